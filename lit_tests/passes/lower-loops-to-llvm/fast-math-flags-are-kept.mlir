// RUN: cuvil-opt %s -p lower-loops-to-llvm | cuvil-opt | filecheck %s
// Flags say where reordering is allowed; an operation without them gets none.
// CHECK-LABEL: llvm.func @flags
// CHECK: llvm.fadd %{{.*}}, %{{.*}} {fastmathFlags = #llvm.fastmath<reassoc>} : f32
// CHECK: llvm.fmul %{{.*}}, %{{.*}} : f32
func.func @flags(%a: f32) -> f32 {
  %0 = arith.addf %a, %a fastmath<reassoc> : f32
  %1 = arith.mulf %0, %a : f32
  func.return %1 : f32
}
