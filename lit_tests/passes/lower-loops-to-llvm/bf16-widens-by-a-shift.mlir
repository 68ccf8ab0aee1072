// RUN: cuvil-opt %s -p lower-loops-to-llvm | filecheck %s
// A bf16 is the upper half of an f32, so that no conversion instruction is needed.
// CHECK-LABEL: llvm.func @widen
// CHECK: %[[WORDS:.*]] = llvm.zext %{{.*}} : i16 to i32
// CHECK: %[[SHIFTED:.*]] = llvm.shl %[[WORDS]], %{{.*}} : i32
// CHECK: llvm.bitcast %[[SHIFTED]] : i32 to f32
func.func @widen(%v: bf16) -> f32 {
  %0 = arith.extf %v : bf16 to f32
  func.return %0 : f32
}
// Arithmetic on bf16 is done in f32.
// CHECK-LABEL: llvm.func @add
// CHECK: llvm.fadd %{{.*}}, %{{.*}} : f32
func.func @add(%v: bf16) -> bf16 {
  %0 = arith.addf %v, %v : bf16
  func.return %0 : bf16
}
