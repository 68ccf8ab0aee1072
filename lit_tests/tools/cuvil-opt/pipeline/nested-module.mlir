// RUN: cuvil-opt %s --pass-pipeline='builtin.module(builtin.module(cse))' | filecheck %s
// An inner builtin.module is an anchor: what is outside of it stays.

// CHECK-LABEL: @outside
// CHECK-COUNT-2: arith.addf
// CHECK-LABEL: @inside
// CHECK-COUNT-1: arith.addf
// CHECK-NOT: arith.addf
func.func @outside(%a: f32) -> (f32, f32) {
  %0 = arith.addf %a, %a : f32
  %1 = arith.addf %a, %a : f32
  func.return %0, %1 : f32, f32
}
builtin.module {
  func.func @inside(%a: f32) -> (f32, f32) {
    %0 = arith.addf %a, %a : f32
    %1 = arith.addf %a, %a : f32
    func.return %0, %1 : f32, f32
  }
}
