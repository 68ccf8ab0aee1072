// RUN: cuvil-run %s | filecheck %s
// Row-major order stays.

func.func @main() -> (tensor<3x2xi32>, tensor<1x6xi32>) {
  %x = cuvil_tensor.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %0 = cuvil_tensor.reshape %x : tensor<2x3xi32> -> tensor<3x2xi32>
  %1 = cuvil_tensor.reshape %x : tensor<2x3xi32> -> tensor<1x6xi32>
  func.return %0, %1 : tensor<3x2xi32>, tensor<1x6xi32>
}
// CHECK{LITERAL}: result 0 : tensor<3x2xi32> = [[1, 2], [3, 4], [5, 6]]
// CHECK-NEXT{LITERAL}: result 1 : tensor<1x6xi32> = [[1, 2, 3, 4, 5, 6]]
