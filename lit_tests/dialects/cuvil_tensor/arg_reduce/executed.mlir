// RUN: cuvil-run %s | filecheck %s
// The first of equals, and the first NaN.

func.func @main() -> (tensor<2xi64>, tensor<2x1xi64>) {
  %x = cuvil_tensor.constant dense<[[1.0, 3.0, 3.0], [5.0, 0x7FC00000, 0x7FC00000]]> : tensor<2x3xf32>
  %0 = cuvil_tensor.arg_reduce max %x axis = 1 : tensor<2x3xf32> -> tensor<2xi64>
  %1 = cuvil_tensor.arg_reduce min %x axis = 1 keepdims : tensor<2x3xf32> -> tensor<2x1xi64>
  func.return %0, %1 : tensor<2xi64>, tensor<2x1xi64>
}
// CHECK: result 0 : tensor<2xi64> = [1, 1]
// CHECK-NEXT{LITERAL}: result 1 : tensor<2x1xi64> = [[0], [1]]
