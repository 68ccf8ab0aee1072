// RUN: cuvil-run %s | filecheck %s
// Infinities and NaN keep their bits, a splat fills its shape.

func.func @main() -> (tensor<4xf32>, tensor<2x2xi32>, tensor<2xi1>, tensor<bf16>) {
  %0 = cuvil_tensor.constant dense<[1.5, 0xFF800000, 0x7FC00000, -0.0]> : tensor<4xf32>
  %1 = cuvil_tensor.constant dense<7> : tensor<2x2xi32>
  %2 = cuvil_tensor.constant dense<[true, false]> : tensor<2xi1>
  %3 = cuvil_tensor.constant dense<1.00390625> : tensor<bf16>
  func.return %0, %1, %2, %3 : tensor<4xf32>, tensor<2x2xi32>, tensor<2xi1>, tensor<bf16>
}
// CHECK: result 0 : tensor<4xf32> = [1.5, -inf, nan, -0]
// CHECK-NEXT{LITERAL}: result 1 : tensor<2x2xi32> = [[7, 7], [7, 7]]
// CHECK-NEXT: result 2 : tensor<2xi1> = [true, false]
// CHECK-NEXT: result 3 : tensor<bf16> = 1
