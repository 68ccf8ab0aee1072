// RUN: cuvil-run %s | filecheck %s
// Along each of the axes.

func.func @main() -> (tensor<2x2xi32>, tensor<2x2xi32>) {
  %x = cuvil_tensor.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %0 = cuvil_tensor.reverse %x axes = [0] : tensor<2x2xi32> -> tensor<2x2xi32>
  %1 = cuvil_tensor.reverse %x axes = [0, 1] : tensor<2x2xi32> -> tensor<2x2xi32>
  func.return %0, %1 : tensor<2x2xi32>, tensor<2x2xi32>
}
// CHECK{LITERAL}: result 0 : tensor<2x2xi32> = [[3, 4], [1, 2]]
// CHECK-NEXT{LITERAL}: result 1 : tensor<2x2xi32> = [[4, 3], [2, 1]]
