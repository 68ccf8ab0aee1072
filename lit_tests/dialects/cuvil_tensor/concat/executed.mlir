// RUN: cuvil-run %s | filecheck %s
// Along an inner dim, with an empty operand.

func.func @main() -> tensor<2x3xi32> {
  %x = cuvil_tensor.constant dense<[[1], [2]]> : tensor<2x1xi32>
  %y = cuvil_tensor.constant dense<[[3, 4], [5, 6]]> : tensor<2x2xi32>
  %z = cuvil_tensor.constant dense<> : tensor<2x0xi32>
  %0 = cuvil_tensor.concat %y, %z, %x axis = 1 : tensor<2x2xi32>, tensor<2x0xi32>, tensor<2x1xi32> -> tensor<2x3xi32>
  func.return %0 : tensor<2x3xi32>
}
// CHECK{LITERAL}: result 0 : tensor<2x3xi32> = [[3, 4, 1], [5, 6, 2]]
