// RUN: cuvil-run %s | filecheck %s
// A dim of size 1 is repeated; the others are placed.

func.func @main() -> (tensor<2x3xi32>, tensor<2x2x1xi32>, tensor<2x0xi32>) {
  %x = cuvil_tensor.constant dense<[[1], [2]]> : tensor<2x1xi32>
  %s = cuvil_tensor.constant dense<7> : tensor<i32>
  %0 = cuvil_tensor.broadcast %x axes = [0, 1] : tensor<2x1xi32> -> tensor<2x3xi32>
  %1 = cuvil_tensor.broadcast %x axes = [1, 2] : tensor<2x1xi32> -> tensor<2x2x1xi32>
  %2 = cuvil_tensor.broadcast %s axes = [] : tensor<i32> -> tensor<2x0xi32>
  func.return %0, %1, %2 : tensor<2x3xi32>, tensor<2x2x1xi32>, tensor<2x0xi32>
}
// CHECK{LITERAL}: result 0 : tensor<2x3xi32> = [[1, 1, 1], [2, 2, 2]]
// CHECK-NEXT{LITERAL}: result 1 : tensor<2x2x1xi32> = [[[1], [2]], [[1], [2]]]
// CHECK-NEXT{LITERAL}: result 2 : tensor<2x0xi32> = [[], []]
