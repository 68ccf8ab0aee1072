// RUN: cuvil-run %s | filecheck %s
// Padding is the neutral element; max propagates NaN.

func.func @main() -> (tensor<1x1x4xf32>, tensor<1x2x1xi32>, tensor<1x1x1xf32>) {
  %x = cuvil_tensor.constant dense<[[[-1.0, -2.0, 0x7FC00000, -4.0]]]> : tensor<1x1x4xf32>
  %y = cuvil_tensor.constant dense<[[[1], [2], [3]]]> : tensor<1x3x1xi32>
  %0 = cuvil_tensor.pool max %x input_order = [0, 1, 2] kernel = [2] strides = [1] low = [1] high = [0] dilation = [1] : tensor<1x1x4xf32> -> tensor<1x1x4xf32>
  %1 = cuvil_tensor.pool add %y input_order = [0, 2, 1] kernel = [2] strides = [2] low = [0] high = [1] dilation = [1] : tensor<1x3x1xi32> -> tensor<1x2x1xi32>
  %2 = cuvil_tensor.pool min %x input_order = [0, 1, 2] kernel = [2] strides = [1] low = [0] high = [0] dilation = [3] : tensor<1x1x4xf32> -> tensor<1x1x1xf32>
  func.return %0, %1, %2 : tensor<1x1x4xf32>, tensor<1x2x1xi32>, tensor<1x1x1xf32>
}
// CHECK{LITERAL}: result 0 : tensor<1x1x4xf32> = [[[-1, -1, nan, nan]]]
// CHECK-NEXT{LITERAL}: result 1 : tensor<1x2x1xi32> = [[[3], [3]]]
// CHECK-NEXT{LITERAL}: result 2 : tensor<1x1x1xf32> = [[[-4]]]
