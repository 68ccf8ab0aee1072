// RUN: cuvil-opt %s -t llvm | filecheck %s
// f32 as the double of its value; every bit is kept.
// CHECK: fadd float %v0, 0x3FB99999A0000000
// CHECK: fadd double %v1, 0xBFF0000000000000
// CHECK: add i8 %v2, -1
// CHECK: xor i1 %v3, true
// CHECK: fadd <4 x float> %v4, splat (float 0x3FF0000000000000)
// CHECK: add <2 x i32> %v5, <i32 1, i32 -2>
// CHECK: fmul half %v6, 0xH3800
llvm.func @constants(%a: f32, %b: f64, %c: i8, %d: i1, %e: vector<4xf32>, %f: vector<2xi32>, %g: f16) {
  %0 = llvm.mlir.constant(0.1 : f32) : f32
  %1 = llvm.fadd %a, %0 : f32
  %2 = llvm.mlir.constant(-1.0 : f64) : f64
  %3 = llvm.fadd %b, %2 : f64
  %4 = llvm.mlir.constant(255 : i8) : i8
  %5 = llvm.add %c, %4 : i8
  %6 = llvm.mlir.constant(true) : i1
  %7 = llvm.xor %d, %6 : i1
  %8 = llvm.mlir.constant(dense<1.0> : vector<4xf32>) : vector<4xf32>
  %9 = llvm.fadd %e, %8 : vector<4xf32>
  %10 = llvm.mlir.constant(dense<[1, -2]> : vector<2xi32>) : vector<2xi32>
  %11 = llvm.add %f, %10 : vector<2xi32>
  %12 = llvm.mlir.constant(0.5 : f16) : f16
  %13 = llvm.fmul %g, %12 : f16
  llvm.return
}
