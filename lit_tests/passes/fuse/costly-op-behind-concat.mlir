// RUN: cuvil-opt %s -p fuse | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 1e-6 --pipeline fuse
// RUN: cuvil-run %s --random --no-print --compare --engine native
// A costly op keeps its own kernel: the two sides of a concat may both be evaluated.
// CHECK: cuvil_fused.kernel @tanh_0
// CHECK: cuvil_fused.kernel @{{.*}}add
func.func @main(%x: tensor<4x8xf32>, %y: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %1 = cuvil_tensor.unary tanh %x : tensor<4x8xf32>
  %2 = cuvil_tensor.concat %1, %x axis = 1 : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x16xf32>
  %3 = cuvil_tensor.binary add %2, %y : tensor<4x16xf32>
  func.return %3 : tensor<4x16xf32>
}
