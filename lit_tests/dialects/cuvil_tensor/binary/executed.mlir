// RUN: cuvil-run %s | filecheck %s
// Integers wrap, division by zero gives 0, max propagates NaN, floor division rounds down.

func.func @main() -> (tensor<3xi32>, tensor<3xi32>, tensor<3xf32>, tensor<3xf32>, tensor<3xi1>) {
  %n = cuvil_tensor.constant dense<[2147483647, -7, 5]> : tensor<3xi32>
  %m = cuvil_tensor.constant dense<[1, 2, 0]> : tensor<3xi32>
  %x = cuvil_tensor.constant dense<[1.0, 0x7FC00000, -3.5]> : tensor<3xf32>
  %y = cuvil_tensor.constant dense<[2.0, 1.0, 2.0]> : tensor<3xf32>
  %0 = cuvil_tensor.binary add %n, %m : tensor<3xi32>
  %1 = cuvil_tensor.binary floor_div %n, %m : tensor<3xi32>
  %2 = cuvil_tensor.binary max %x, %y : tensor<3xf32>
  %3 = cuvil_tensor.binary rem %x, %y : tensor<3xf32>
  %4 = cuvil_tensor.binary ge %x, %y : tensor<3xf32>
  func.return %0, %1, %2, %3, %4 : tensor<3xi32>, tensor<3xi32>, tensor<3xf32>, tensor<3xf32>, tensor<3xi1>
}
// CHECK: result 0 : tensor<3xi32> = [-2147483648, -5, 5]
// CHECK-NEXT: result 1 : tensor<3xi32> = [2147483647, -4, 0]
// CHECK-NEXT: result 2 : tensor<3xf32> = [2, nan, 2]
// CHECK-NEXT: result 3 : tensor<3xf32> = [1, nan, 0.5]
// CHECK-NEXT: result 4 : tensor<3xi1> = [false, false, false]
