// RUN: cuvil-run %s --engine native --input 'dense<[1.5, 2.5]> : tensor<2xf32>' --compare | filecheck %s
// An input given back, a value and a constant returned twice: each result has a buffer of its own.
// CHECK: result 0 : tensor<2xf32> = [1.5, 2.5]
// CHECK-NEXT: result 1 : tensor<2xf32> = [-1.5, -2.5]
// CHECK-NEXT: result 2 : tensor<2xf32> = [-1.5, -2.5]
// CHECK-NEXT: result 3 : tensor<2xf32> = [7, 8]
// CHECK-NEXT: result 4 : tensor<2xf32> = [7, 8]
// CHECK-NEXT: result 5 : tensor<3xi64> = [4, 4, 4]
// CHECK-NEXT: result 6 : tensor<1x2xf32> =
func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<3xi64>, tensor<1x2xf32>) {
  %0 = cuvil_tensor.unary neg %x : tensor<2xf32>
  %1 = cuvil_tensor.constant dense<[7.0, 8.0]> : tensor<2xf32>
  %2 = cuvil_tensor.constant dense<4> : tensor<3xi64>
  %3 = cuvil_tensor.reshape %x : tensor<2xf32> -> tensor<1x2xf32>
  func.return %x, %0, %0, %1, %1, %2, %3 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<3xi64>, tensor<1x2xf32>
}
