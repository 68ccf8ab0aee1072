// RUN: cuvil-opt %s --load-pass-plugin=%S/../Inputs/test_passes.py -p test-report --remarks-filter=missed 2>&1 >/dev/null | filecheck %s
// RUN: cuvil-opt %s --load-pass-plugin=%S/../Inputs/test_passes.py -p test-report 2>&1 >/dev/null | filecheck %s --allow-empty --check-prefix=QUIET
// Like any diagnostic: with the place, the source line, and a caret. Without a filter there are none.
// QUIET-NOT: remark
func.func @f(%a: f32) {
  // CHECK:      text.mlir:[[# @LINE + 2]]:8: remark: [missed] test-report: left an addition (width=32)
  // CHECK-NEXT:   %0 = arith.addf %a, %a : f32
  %0 = arith.addf %a, %a : f32
  // CHECK-NEXT:        ^
  // CHECK-NOT: remark
  func.return
}
