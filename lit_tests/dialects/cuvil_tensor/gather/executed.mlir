// RUN: cuvil-run %s | filecheck %s
// Negative indices count from the end; the indices' dims come first.

func.func @main() -> (tensor<2x3xi32>, tensor<2x2xi32>, tensor<2xi32>) {
  %x = cuvil_tensor.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %i = cuvil_tensor.constant dense<[1, -2]> : tensor<2xi64>
  %j = cuvil_tensor.constant dense<[0, -1]> : tensor<2xi64>
  %0 = cuvil_tensor.gather %x, %i axes = [0] : tensor<2x3xi32>, tensor<2xi64> -> tensor<2x3xi32>
  %1 = cuvil_tensor.gather %x, %j axes = [1] : tensor<2x3xi32>, tensor<2xi64> -> tensor<2x2xi32>
  %2 = cuvil_tensor.gather %x, %i, %j axes = [0, 1] : tensor<2x3xi32>, tensor<2xi64>, tensor<2xi64> -> tensor<2xi32>
  func.return %0, %1, %2 : tensor<2x3xi32>, tensor<2x2xi32>, tensor<2xi32>
}
// CHECK{LITERAL}: result 0 : tensor<2x3xi32> = [[4, 5, 6], [1, 2, 3]]
// CHECK-NEXT{LITERAL}: result 1 : tensor<2x2xi32> = [[1, 4], [3, 6]]
// CHECK-NEXT: result 2 : tensor<2xi32> = [4, 3]
