// RUN: cuvil-run %s | filecheck %s
// Negative counts crop.

func.func @main() -> (tensor<3x3xi32>, tensor<1x3xi32>) {
  %x = cuvil_tensor.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %v = cuvil_tensor.constant dense<9> : tensor<i32>
  %0 = cuvil_tensor.pad %x, %v low = [1, 0] high = [0, 1] : tensor<2x2xi32>, tensor<i32> -> tensor<3x3xi32>
  %1 = cuvil_tensor.pad %x, %v low = [0, -1] high = [-1, 2] : tensor<2x2xi32>, tensor<i32> -> tensor<1x3xi32>
  func.return %0, %1 : tensor<3x3xi32>, tensor<1x3xi32>
}
// CHECK{LITERAL}: result 0 : tensor<3x3xi32> = [[9, 9, 9], [1, 2, 9], [3, 4, 9]]
// CHECK-NEXT{LITERAL}: result 1 : tensor<1x3xi32> = [[2, 9, 9]]
