// RUN: cuvil-run %s | filecheck %s
// Large inputs do not overflow; -inf counts as nothing; a row of -inf alone is NaN, as in PyTorch.

func.func @main() -> tensor<3x2xf32> {
  %x = cuvil_tensor.constant dense<[[1000.0, 1000.0], [0xFF800000, 3.0], [0xFF800000, 0xFF800000]]> : tensor<3x2xf32>
  %0 = cuvil_tensor.softmax %x axis = 1 : tensor<3x2xf32> -> tensor<3x2xf32>
  func.return %0 : tensor<3x2xf32>
}
// CHECK{LITERAL}: result 0 : tensor<3x2xf32> = [[0.5, 0.5], [0, 1], [nan, nan]]
