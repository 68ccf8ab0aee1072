// RUN: cuvil-opt %s --load-pass-plugin=%S/../Inputs/test_passes.py -p 'test-report,cse,test-report,func.func(dce)' --mlir-pass-statistics 2>&1 >/dev/null | filecheck %s
// RUN: cuvil-opt %s --load-pass-plugin=%S/../Inputs/test_passes.py -p 'test-report,cse,test-report' --mlir-pass-statistics --mlir-pass-statistics-display=list 2>&1 >/dev/null | filecheck %s --check-prefix=LIST
// Counters of the pass and the number of operations, run by run or added up.
// CHECK:      ... Pass statistics report ...
// CHECK:      {{^}}test-report
// CHECK-NEXT:   (S) 2 additions
// CHECK-NEXT:   (S) 5 operations-after
// CHECK-NEXT:   (S) 5 operations-before
// CHECK:      {{^}}cse
// CHECK-NEXT:   (S) 4 operations-after
// CHECK-NEXT:   (S) 5 operations-before
// CHECK:      {{^}}test-report
// CHECK-NEXT:   (S) 1 additions
// CHECK:      {{^}}'func.func' Pipeline
// CHECK-NEXT: {{^}}  dce
// LIST:      {{^}}cse
// LIST:      {{^}}test-report
// LIST-NEXT:   (S) 3 additions
// LIST-NOT:  {{^}}test-report
func.func @f(%a: f32) -> (f32, f32) {
  %0 = arith.addf %a, %a : f32
  %1 = arith.addf %a, %a : f32
  func.return %0, %1 : f32, f32
}
