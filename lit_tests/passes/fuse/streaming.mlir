// RUN: cuvil-opt %s -p fuse | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 1e-6 --pipeline fuse
// RUN: cuvil-run %s --random --no-print --compare --engine native
// Element-wise ops of one shape are one kernel.
// CHECK: cuvil_fused.kernel @exp_add_tanh_0(%x_1 = %x, %y_1 = %y) family = loop access = <streaming, streaming>
// CHECK-NOT: cuvil_fused.kernel
func.func @main(%x: tensor<4x16xf32>, %y: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %1 = cuvil_tensor.unary exp %x : tensor<4x16xf32>
  %2 = cuvil_tensor.binary add %1, %y : tensor<4x16xf32>
  %3 = cuvil_tensor.unary tanh %2 : tensor<4x16xf32>
  func.return %3 : tensor<4x16xf32>
}
