// RUN: cuvil-opt %s -p fold-batch-norm | filecheck %s
// Inside of control flow too: the new weight is computed where the norm was.
// CHECK: scf.if
// CHECK: cuvil_tensor.unary rsqrt
// CHECK: cuvil_tensor.convolution
// CHECK-NOT: cuvil_tensor.batch_norm
cuvil_tensor.global @w : tensor<4x3x3x3xf32>
cuvil_tensor.global @b : tensor<4xf32>
cuvil_tensor.global @g : tensor<4xf32>
cuvil_tensor.global @mean : tensor<4xf32>
cuvil_tensor.global @variance : tensor<4xf32>
func.func @main(%x: tensor<1x3x4x4xf32>, %c: i1) -> tensor<1x4x4x4xf32> {
  %w = cuvil_tensor.parameter @w : tensor<4x3x3x3xf32>
  %b = cuvil_tensor.parameter @b : tensor<4xf32>
  %g = cuvil_tensor.parameter @g : tensor<4xf32>
  %mean = cuvil_tensor.parameter @mean : tensor<4xf32>
  %variance = cuvil_tensor.parameter @variance : tensor<4xf32>
  %r = scf.if %c -> (tensor<1x4x4x4xf32>) {
    %1 = cuvil_tensor.convolution %x, %w input_order = [0, 1, 2, 3] strides = [1, 1] low = [1, 1] high = [1, 1] dilation = [1, 1] input_dilation = [1, 1] groups = 1 : tensor<1x3x4x4xf32>, tensor<4x3x3x3xf32> -> tensor<1x4x4x4xf32>
    %2 = cuvil_tensor.batch_norm %1, %mean, %variance axis = 1 eps = 1.0e-05 : tensor<1x4x4x4xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<1x4x4x4xf32>
    scf.yield %2 : tensor<1x4x4x4xf32>
  } else {
    %3 = cuvil_tensor.convolution %x, %w input_order = [0, 1, 2, 3] strides = [1, 1] low = [1, 1] high = [1, 1] dilation = [1, 1] input_dilation = [1, 1] groups = 1 : tensor<1x3x4x4xf32>, tensor<4x3x3x3xf32> -> tensor<1x4x4x4xf32>
    scf.yield %3 : tensor<1x4x4x4xf32>
  }
  func.return %r : tensor<1x4x4x4xf32>
}
