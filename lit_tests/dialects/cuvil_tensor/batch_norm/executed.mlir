// RUN: cuvil-run %s | filecheck %s
// Each channel by its own mean and variance.

func.func @main() -> (tensor<1x2x2xf32>, tensor<1x2x2xf32>) {
  %x = cuvil_tensor.constant dense<[[[1.0, 2.0], [10.0, 20.0]]]> : tensor<1x2x2xf32>
  %m = cuvil_tensor.constant dense<[1.0, 10.0]> : tensor<2xf32>
  %v = cuvil_tensor.constant dense<[4.0, 25.0]> : tensor<2xf32>
  %w = cuvil_tensor.constant dense<[1.0, 3.0]> : tensor<2xf32>
  %b = cuvil_tensor.constant dense<[0.0, 1.0]> : tensor<2xf32>
  %0 = cuvil_tensor.batch_norm %x, %m, %v weight = %w bias = %b axis = 1 eps = 0.0 : tensor<1x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32> -> tensor<1x2x2xf32>
  %1 = cuvil_tensor.batch_norm %x, %m, %v axis = 2 eps = 0.0 : tensor<1x2x2xf32>, tensor<2xf32>, tensor<2xf32> -> tensor<1x2x2xf32>
  func.return %0, %1 : tensor<1x2x2xf32>, tensor<1x2x2xf32>
}
// CHECK{LITERAL}: result 0 : tensor<1x2x2xf32> = [[[0, 0.5], [1, 7]]]
// CHECK-NEXT{LITERAL}: result 1 : tensor<1x2x2xf32> = [[[0, -1.6], [4.5, 2]]]
