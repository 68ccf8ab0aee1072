// RUN: cuvil-opt %s -p fuse | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 1e-6 --pipeline fuse
// RUN: cuvil-run %s --random --no-print --compare --engine native
// A kernel that something else has read already stays by itself.
// CHECK-COUNT-4: cuvil_fused.kernel
// CHECK-NOT: cuvil_fused.kernel
func.func @main(%x: tensor<4x16xf32>, %y: tensor<4x16xf32>) -> (tensor<4x16xf32>, tensor<4xf32>) {
  %1 = cuvil_tensor.unary tanh %x : tensor<4x16xf32>
  %s, %si = cuvil_tensor.sort %1 axis = 1 : tensor<4x16xf32> -> (tensor<4x16xf32>, tensor<4x16xi64>)
  %2 = cuvil_tensor.unary exp %y : tensor<4x16xf32>
  %3 = cuvil_tensor.binary add %2, %1 : tensor<4x16xf32>
  %4 = cuvil_tensor.reduce add %s axes = [1] : tensor<4x16xf32> -> tensor<4xf32>
  func.return %3, %4 : tensor<4x16xf32>, tensor<4xf32>
}
