// RUN: cuvil-run %s | filecheck %s
// Largest with `descending`, smallest without.

func.func @main() -> (tensor<2x2xi32>, tensor<2x2xi64>, tensor<1x3xi32>, tensor<1x3xi64>) {
  %x = cuvil_tensor.constant dense<[[3, 1, 2], [4, 6, 5]]> : tensor<2x3xi32>
  %0, %1 = cuvil_tensor.topk %x k = 2 axis = 1 descending : tensor<2x3xi32> -> (tensor<2x2xi32>, tensor<2x2xi64>)
  %2, %3 = cuvil_tensor.topk %x k = 1 axis = 0 : tensor<2x3xi32> -> (tensor<1x3xi32>, tensor<1x3xi64>)
  func.return %0, %1, %2, %3 : tensor<2x2xi32>, tensor<2x2xi64>, tensor<1x3xi32>, tensor<1x3xi64>
}
// CHECK{LITERAL}: result 0 : tensor<2x2xi32> = [[3, 2], [6, 5]]
// CHECK-NEXT{LITERAL}: result 1 : tensor<2x2xi64> = [[0, 2], [1, 2]]
// CHECK-NEXT{LITERAL}: result 2 : tensor<1x3xi32> = [[3, 1, 2]]
// CHECK-NEXT{LITERAL}: result 3 : tensor<1x3xi64> = [[0, 0, 0]]
