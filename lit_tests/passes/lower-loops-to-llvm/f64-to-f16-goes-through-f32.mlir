// RUN: cuvil-opt %s -p lower-loops-to-llvm | filecheck %s
// A direct conversion is a library call that is not linked.
// CHECK-LABEL: llvm.func @narrow
// CHECK: %[[SINGLE:.*]] = llvm.fptrunc %{{.*}} : f64 to f32
// CHECK: llvm.fptrunc %[[SINGLE]] : f32 to f16
func.func @narrow(%v: f64) -> f16 {
  %0 = arith.truncf %v : f64 to f16
  func.return %0 : f16
}
// CHECK-LABEL: llvm.func @single
// CHECK: llvm.fptrunc %{{.*}} : f64 to f32
// CHECK-NOT: llvm.fptrunc
func.func @single(%v: f64) -> f32 {
  %0 = arith.truncf %v : f64 to f32
  func.return %0 : f32
}
