// RUN: cuvil-run %s | filecheck %s
// select takes the second operand where the first is true; clamp keeps NaN; fma rounds once.

func.func @main() -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %p = cuvil_tensor.constant dense<[true, false, true]> : tensor<3xi1>
  %x = cuvil_tensor.constant dense<[5.0, -5.0, 0x7FC00000]> : tensor<3xf32>
  %y = cuvil_tensor.constant dense<-1.0> : tensor<3xf32>
  %z = cuvil_tensor.constant dense<1.0> : tensor<3xf32>
  %b = cuvil_tensor.constant dense<16777217.0> : tensor<1xf64>
  %0 = cuvil_tensor.ternary select %p, %x, %y : tensor<3xi1>, tensor<3xf32>, tensor<3xf32>
  %1 = cuvil_tensor.ternary clamp %x, %y, %z : tensor<3xf32>
  %2 = cuvil_tensor.ternary fma %x, %x, %y : tensor<3xf32>
  func.return %0, %1, %2 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}
// CHECK: result 0 : tensor<3xf32> = [5, -1, nan]
// CHECK-NEXT: result 1 : tensor<3xf32> = [1, -1, nan]
// CHECK-NEXT: result 2 : tensor<3xf32> = [24, 24, nan]
