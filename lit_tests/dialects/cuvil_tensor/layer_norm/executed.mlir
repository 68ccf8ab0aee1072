// RUN: cuvil-run %s | filecheck %s
// Mean 0 and variance 1, then weight and bias.

func.func @main() -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %x = cuvil_tensor.constant dense<[[1.0, 3.0], [1000.0, 1004.0]]> : tensor<2x2xf32>
  %w = cuvil_tensor.constant dense<[2.0, 1.0]> : tensor<2xf32>
  %b = cuvil_tensor.constant dense<[0.0, 10.0]> : tensor<2xf32>
  %0 = cuvil_tensor.layer_norm %x weight = %w bias = %b axes = [1] eps = 0.0 : tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32> -> tensor<2x2xf32>
  %1 = cuvil_tensor.layer_norm %x axes = [1] eps = 3.0 : tensor<2x2xf32> -> tensor<2x2xf32>
  func.return %0, %1 : tensor<2x2xf32>, tensor<2x2xf32>
}
// CHECK{LITERAL}: result 0 : tensor<2x2xf32> = [[-2, 11], [-2, 11]]
// CHECK-NEXT{LITERAL}: result 1 : tensor<2x2xf32> = [[-0.5, 0.5], [-0.755929, 0.755929]]
