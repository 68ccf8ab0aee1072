// RUN: cuvil-run %s | filecheck %s
// Equal elements keep their order; NaN is the largest.

func.func @main() -> (tensor<4xf32>, tensor<4xi64>, tensor<4xf32>, tensor<4xi64>) {
  %x = cuvil_tensor.constant dense<[3.0, 1.0, 0x7FC00000, 1.0]> : tensor<4xf32>
  %0, %1 = cuvil_tensor.sort %x axis = 0 : tensor<4xf32> -> (tensor<4xf32>, tensor<4xi64>)
  %2, %3 = cuvil_tensor.sort %x axis = 0 descending : tensor<4xf32> -> (tensor<4xf32>, tensor<4xi64>)
  func.return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xi64>, tensor<4xf32>, tensor<4xi64>
}
// CHECK: result 0 : tensor<4xf32> = [1, 1, 3, nan]
// CHECK-NEXT: result 1 : tensor<4xi64> = [1, 3, 0, 2]
// CHECK-NEXT: result 2 : tensor<4xf32> = [nan, 3, 1, 1]
// CHECK-NEXT: result 3 : tensor<4xi64> = [2, 0, 1, 3]
