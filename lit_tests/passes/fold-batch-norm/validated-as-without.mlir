// RUN: cuvil-opt %s -p normalize,rewrite-layout,hoist-parameters,fuse | filecheck %s
// RUN: cuvil-opt %s -p normalize,rewrite-layout,hoist-parameters,fuse --validate | filecheck %s
// RUN: cuvil-opt %s -p fold-batch-norm --validate | filecheck %s --check-prefix FOLDED
// Running the interpreter between passes adds no uses to the module's values: passes that count uses decide the same.
// FOLDED: cuvil_tensor.convolution
// FOLDED-NOT: cuvil_tensor.batch_norm
// CHECK: cuvil_fused.kernel @convolution_mul_add_sigmoid_mul
// CHECK-NOT: cuvil_fused.kernel
cuvil_tensor.global @w : tensor<4x3x3x3xf32>
cuvil_tensor.global @mean : tensor<4xf32>
cuvil_tensor.global @variance : tensor<4xf32>
func.func @main(%x: tensor<1x3x8x8xf32>) -> tensor<1x4x6x6xf32> {
  %w = cuvil_tensor.parameter @w : tensor<4x3x3x3xf32>
  %mean = cuvil_tensor.parameter @mean : tensor<4xf32>
  %variance = cuvil_tensor.parameter @variance : tensor<4xf32>
  %1 = cuvil_tensor.convolution %x, %w input_order = [0, 1, 2, 3] strides = [1, 1] low = [0, 0] high = [0, 0]
    dilation = [1, 1] input_dilation = [1, 1] groups = 1 : tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32> -> tensor<1x4x6x6xf32>
  %2 = cuvil_tensor.batch_norm %1, %mean, %variance axis = 1 eps = 1.0e-05
    : tensor<1x4x6x6xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<1x4x6x6xf32>
  %3 = cuvil_tensor.silu %2 : tensor<1x4x6x6xf32> -> tensor<1x4x6x6xf32>
  func.return %3 : tensor<1x4x6x6xf32>
}
