// RUN: cuvil-run %s | filecheck %s
// x times a transposed weight plus a bias.

func.func @main() -> tensor<1x3xf32> {
  %x = cuvil_tensor.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %w = cuvil_tensor.constant dense<[[1.0, 10.0], [0.0, 1.0], [3.0, 0.0]]> : tensor<3x2xf32>
  %b = cuvil_tensor.constant dense<[0.5, 0.0, -1.0]> : tensor<3xf32>
  %0 = cuvil_tensor.linear %x, %w bias = %b : tensor<1x2xf32>, tensor<3x2xf32>, tensor<3xf32> -> tensor<1x3xf32>
  func.return %0 : tensor<1x3xf32>
}
// CHECK{LITERAL}: result 0 : tensor<1x3xf32> = [[21.5, 2, 2]]
