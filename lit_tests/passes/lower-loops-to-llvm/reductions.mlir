// RUN: cuvil-opt %s -p lower-loops-to-llvm | filecheck %s
// A float sum starts from -0.0, which changes nothing; an integer one has no flags.
// CHECK-LABEL: llvm.func @sums
// CHECK: %[[START:.*]] = llvm.mlir.constant(-0.000000e+00 : f32) : f32
// CHECK: "llvm.intr.vector.reduce.fadd"(%[[START]], %{{.*}}) <{fastmathFlags = #llvm.fastmath<reassoc>}>
// CHECK: llvm.call_intrinsic "llvm.vector.reduce.add"(%{{.*}}) : (vector<8xi32>) -> i32
// CHECK: llvm.call_intrinsic "llvm.vector.reduce.fmaximum"
func.func @sums(%f: vector<8xf32>, %i: vector<8xi32>) {
  %0 = vector.reduction <add>, %f fastmath<reassoc> : vector<8xf32> into f32
  %1 = vector.reduction <add>, %i : vector<8xi32> into i32
  %2 = vector.reduction <maximumf>, %f : vector<8xf32> into f32
  func.return
}
