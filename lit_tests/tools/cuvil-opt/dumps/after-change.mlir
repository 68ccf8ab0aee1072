// RUN: cuvil-opt %s -p cse,dce,canonicalize --mlir-print-ir-after-change 2>&1 >/dev/null | filecheck %s
// Only the pass that did something is shown.
// CHECK:     IR Dump After cse
// CHECK-NOT: IR Dump
func.func @f(%a: f32) -> f32 {
  %0 = arith.addf %a, %a : f32
  %1 = arith.addf %a, %a : f32
  %2 = arith.mulf %0, %1 : f32
  func.return %2 : f32
}
