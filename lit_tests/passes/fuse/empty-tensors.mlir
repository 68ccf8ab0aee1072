// RUN: cuvil-opt %s -p fuse | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 1e-6 --pipeline fuse
// RUN: cuvil-run %s --random --no-print --compare --engine native
// Tensors without elements fuse as others do, and compute nothing.
// CHECK: cuvil_fused.kernel @tanh_add_0
// CHECK: cuvil_tensor.reduce
func.func @main(%x: tensor<0x4xf32>) -> (tensor<0x4xf32>, tensor<4xf32>) {
  %1 = cuvil_tensor.unary tanh %x : tensor<0x4xf32>
  %2 = cuvil_tensor.binary add %1, %x : tensor<0x4xf32>
  %3 = cuvil_tensor.reduce add %x axes = [0] : tensor<0x4xf32> -> tensor<4xf32>
  func.return %2, %3 : tensor<0x4xf32>, tensor<4xf32>
}
