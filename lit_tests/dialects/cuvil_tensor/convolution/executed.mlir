// RUN: cuvil-run %s | filecheck %s
// Padding is zeros; a transposed convolution spreads its input; groups keep channels apart.

func.func @main() -> (tensor<1x1x4xf32>, tensor<1x1x1xf32>, tensor<1x1x4xf32>, tensor<1x2x2xf32>) {
  %x = cuvil_tensor.constant dense<[[[1.0, 2.0, 3.0]]]> : tensor<1x1x3xf32>
  %w = cuvil_tensor.constant dense<[[[1.0, 10.0]]]> : tensor<1x1x2xf32>
  %y = cuvil_tensor.constant dense<[[[1.0, 2.0], [3.0, 4.0]]]> : tensor<1x2x2xf32>
  %v = cuvil_tensor.constant dense<[[[1.0]], [[10.0]]]> : tensor<2x1x1xf32>
  %0 = cuvil_tensor.convolution %x, %w input_order = [0, 1, 2] strides = [1] low = [1] high = [1] dilation = [1] input_dilation = [1] groups = 1 : tensor<1x1x3xf32>, tensor<1x1x2xf32> -> tensor<1x1x4xf32>
  %1 = cuvil_tensor.convolution %x, %w input_order = [0, 1, 2] strides = [2] low = [0] high = [0] dilation = [2] input_dilation = [1] groups = 1 : tensor<1x1x3xf32>, tensor<1x1x2xf32> -> tensor<1x1x1xf32>
  %2 = cuvil_tensor.convolution %x, %w input_order = [0, 1, 2] strides = [1] low = [0] high = [0] dilation = [1] input_dilation = [2] groups = 1 : tensor<1x1x3xf32>, tensor<1x1x2xf32> -> tensor<1x1x4xf32>
  %3 = cuvil_tensor.convolution %y, %v input_order = [0, 1, 2] strides = [1] low = [0] high = [0] dilation = [1] input_dilation = [1] groups = 2 : tensor<1x2x2xf32>, tensor<2x1x1xf32> -> tensor<1x2x2xf32>
  func.return %0, %1, %2, %3 : tensor<1x1x4xf32>, tensor<1x1x1xf32>, tensor<1x1x4xf32>, tensor<1x2x2xf32>
}
// CHECK{LITERAL}: result 0 : tensor<1x1x4xf32> = [[[10, 21, 32, 3]]]
// CHECK-NEXT{LITERAL}: result 1 : tensor<1x1x1xf32> = [[[31]]]
// CHECK-NEXT{LITERAL}: result 2 : tensor<1x1x4xf32> = [[[1, 20, 2, 30]]]
// CHECK-NEXT{LITERAL}: result 3 : tensor<1x2x2xf32> = [[[1, 2], [30, 40]]]
