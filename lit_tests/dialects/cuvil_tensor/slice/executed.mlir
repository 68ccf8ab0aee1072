// RUN: cuvil-run %s | filecheck %s
// Starts and steps count elements; the sizes are the result's.

func.func @main() -> (tensor<1x3xi32>, tensor<2x2xi32>, tensor<2x0xi32>) {
  %x = cuvil_tensor.constant dense<[[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]]> : tensor<2x5xi32>
  %0 = cuvil_tensor.slice %x starts = [1, 0] steps = [1, 2] : tensor<2x5xi32> -> tensor<1x3xi32>
  %1 = cuvil_tensor.slice %x starts = [0, 3] steps = [1, 1] : tensor<2x5xi32> -> tensor<2x2xi32>
  %2 = cuvil_tensor.slice %x starts = [0, 5] steps = [1, 1] : tensor<2x5xi32> -> tensor<2x0xi32>
  func.return %0, %1, %2 : tensor<1x3xi32>, tensor<2x2xi32>, tensor<2x0xi32>
}
// CHECK{LITERAL}: result 0 : tensor<1x3xi32> = [[6, 8, 10]]
// CHECK-NEXT{LITERAL}: result 1 : tensor<2x2xi32> = [[4, 5], [9, 10]]
// CHECK-NEXT{LITERAL}: result 2 : tensor<2x0xi32> = [[], []]
