// RUN: cuvil-run %s | filecheck %s
// Where softmax underflows, its logarithm does not.

func.func @main() -> tensor<2x2xf32> {
  %x = cuvil_tensor.constant dense<[[0.0, -200.0], [1.0, 1.0]]> : tensor<2x2xf32>
  %0 = cuvil_tensor.log_softmax %x axis = 1 : tensor<2x2xf32> -> tensor<2x2xf32>
  func.return %0 : tensor<2x2xf32>
}
// CHECK{LITERAL}: result 0 : tensor<2x2xf32> = [[0, -200], [-0.693147, -0.693147]]
