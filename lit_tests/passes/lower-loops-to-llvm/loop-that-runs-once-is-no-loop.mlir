// RUN: cuvil-opt %s -p lower-loops-to-llvm | filecheck %s
// A loop whose bounds say that it runs once is its body.
// CHECK-LABEL: llvm.func @once
// CHECK-NOT: llvm.cond_br
// CHECK: %[[SUM:.*]] = llvm.fadd
// CHECK: llvm.return %[[SUM]]
func.func @once(%v: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %r = scf.for %i = %c0 to %c8 step %c8 iter_args(%s = %v) -> (f32) {
    %t = arith.addf %s, %s : f32
    scf.yield %t : f32
  }
  func.return %r : f32
}
// CHECK-LABEL: llvm.func @never
// CHECK-NOT: llvm.fadd
// CHECK: llvm.return
func.func @never(%v: f32) -> f32 {
  %c8 = arith.constant 8 : index
  %r = scf.for %i = %c8 to %c8 step %c8 iter_args(%s = %v) -> (f32) {
    %t = arith.addf %s, %s : f32
    scf.yield %t : f32
  }
  func.return %r : f32
}
