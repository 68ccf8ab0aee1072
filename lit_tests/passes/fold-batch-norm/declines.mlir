// RUN: cuvil-opt %s -p fold-batch-norm --remarks-filter=missed --verify-diagnostics
// RUN: cuvil-opt %s -p fold-batch-norm | filecheck %s
// What a convolution cannot take up stays, and a remark says why.
// CHECK-COUNT-4: cuvil_tensor.batch_norm
cuvil_tensor.global @w : tensor<4x3x3x3xf32>
cuvil_tensor.global @b : tensor<4xf32>
cuvil_tensor.global @g : tensor<4xf32>
cuvil_tensor.global @mean : tensor<4xf32>
cuvil_tensor.global @variance : tensor<4xf32>
func.func @main(%x: tensor<1x3x4x4xf32>, %m: tensor<4xf32>) -> (tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>) {
  %w = cuvil_tensor.parameter @w : tensor<4x3x3x3xf32>
  %b = cuvil_tensor.parameter @b : tensor<4xf32>
  %g = cuvil_tensor.parameter @g : tensor<4xf32>
  %mean = cuvil_tensor.parameter @mean : tensor<4xf32>
  %variance = cuvil_tensor.parameter @variance : tensor<4xf32>
  %1 = cuvil_tensor.convolution %x, %w input_order = [0, 1, 2, 3] strides = [1, 1] low = [1, 1] high = [1, 1] dilation = [1, 1] input_dilation = [1, 1] groups = 1 : tensor<1x3x4x4xf32>, tensor<4x3x3x3xf32> -> tensor<1x4x4x4xf32>
  // expected-remark @+1 {{cuvil_tensor.batch_norm not folded: its input has other uses}}
  %2 = cuvil_tensor.batch_norm %1, %mean, %variance axis = 1 eps = 1.0e-05 : tensor<1x4x4x4xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<1x4x4x4xf32>
  %3 = cuvil_tensor.convolution %x, %w input_order = [0, 1, 2, 3] strides = [1, 1] low = [1, 1] high = [1, 1] dilation = [1, 1] input_dilation = [1, 1] groups = 1 : tensor<1x3x4x4xf32>, tensor<4x3x3x3xf32> -> tensor<1x4x4x4xf32>
  // expected-remark @+1 {{it normalizes dim 2, the channels are dim 1}}
  %4 = cuvil_tensor.batch_norm %3, %mean, %variance axis = 2 eps = 1.0e-05 : tensor<1x4x4x4xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<1x4x4x4xf32>
  %5 = cuvil_tensor.convolution %x, %w input_order = [0, 1, 2, 3] strides = [1, 1] low = [1, 1] high = [1, 1] dilation = [1, 1] input_dilation = [1, 1] groups = 1 : tensor<1x3x4x4xf32>, tensor<4x3x3x3xf32> -> tensor<1x4x4x4xf32>
  // expected-remark @+1 {{the weight or a statistic is computed at run time}}
  %6 = cuvil_tensor.batch_norm %5, %m, %variance axis = 1 eps = 1.0e-05 : tensor<1x4x4x4xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<1x4x4x4xf32>
  %7 = cuvil_tensor.unary relu %1 : tensor<1x4x4x4xf32>
  // expected-remark @+1 {{its input is neither a convolution nor a linear}}
  %8 = cuvil_tensor.batch_norm %7, %mean, %variance axis = 1 eps = 1.0e-05 : tensor<1x4x4x4xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<1x4x4x4xf32>
  func.return %1, %2, %4, %6, %8 : tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>
}
