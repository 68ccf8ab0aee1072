// RUN: cuvil-run %s | filecheck %s
// Of nothing: the neutral element. Integers wrap, NaN wins.

func.func @main() -> (tensor<1x2xf32>, tensor<2xf32>, tensor<i32>, tensor<2xf32>, tensor<2xf32>) {
  %x = cuvil_tensor.constant dense<[[1.0, 2.0], [3.0, 0x7FC00000]]> : tensor<2x2xf32>
  %n = cuvil_tensor.constant dense<[2147483647, 1]> : tensor<2xi32>
  %e = cuvil_tensor.constant dense<> : tensor<2x0xf32>
  %0 = cuvil_tensor.reduce add %x axes = [0] keepdims : tensor<2x2xf32> -> tensor<1x2xf32>
  %1 = cuvil_tensor.reduce min %x axes = [1] : tensor<2x2xf32> -> tensor<2xf32>
  %2 = cuvil_tensor.reduce add %n axes = [0] : tensor<2xi32> -> tensor<i32>
  %3 = cuvil_tensor.reduce max %e axes = [1] : tensor<2x0xf32> -> tensor<2xf32>
  %4 = cuvil_tensor.reduce mul %e axes = [1] : tensor<2x0xf32> -> tensor<2xf32>
  func.return %0, %1, %2, %3, %4 : tensor<1x2xf32>, tensor<2xf32>, tensor<i32>, tensor<2xf32>, tensor<2xf32>
}
// CHECK{LITERAL}: result 0 : tensor<1x2xf32> = [[4, nan]]
// CHECK-NEXT: result 1 : tensor<2xf32> = [1, nan]
// CHECK-NEXT: result 2 : tensor<i32> = -2147483648
// CHECK-NEXT: result 3 : tensor<2xf32> = [-inf, -inf]
// CHECK-NEXT: result 4 : tensor<2xf32> = [1, 1]
