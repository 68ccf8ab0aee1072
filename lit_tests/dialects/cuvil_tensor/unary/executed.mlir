// RUN: cuvil-run %s | filecheck %s
// NaN passes through relu; round is to even; the smallest integer is its own absolute value.

func.func @main() -> (tensor<3xf32>, tensor<3xf32>, tensor<3xi1>, tensor<2xi32>) {
  %x = cuvil_tensor.constant dense<[-1.5, 2.5, 0x7FC00000]> : tensor<3xf32>
  %n = cuvil_tensor.constant dense<[-2147483648, -3]> : tensor<2xi32>
  %0 = cuvil_tensor.unary relu %x : tensor<3xf32>
  %1 = cuvil_tensor.unary round %x : tensor<3xf32>
  %2 = cuvil_tensor.unary isnan %x : tensor<3xf32>
  %3 = cuvil_tensor.unary abs %n : tensor<2xi32>
  func.return %0, %1, %2, %3 : tensor<3xf32>, tensor<3xf32>, tensor<3xi1>, tensor<2xi32>
}
// CHECK: result 0 : tensor<3xf32> = [0, 2.5, nan]
// CHECK-NEXT: result 1 : tensor<3xf32> = [-2, 2, nan]
// CHECK-NEXT: result 2 : tensor<3xi1> = [false, false, true]
// CHECK-NEXT: result 3 : tensor<2xi32> = [-2147483648, 3]
