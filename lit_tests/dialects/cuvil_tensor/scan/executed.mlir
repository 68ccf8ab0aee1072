// RUN: cuvil-run %s | filecheck %s
// Inclusive, exclusive, from the end.

func.func @main() -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
  %x = cuvil_tensor.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %0 = cuvil_tensor.scan add %x axis = 0 : tensor<4xi32> -> tensor<4xi32>
  %1 = cuvil_tensor.scan mul %x axis = 0 exclusive : tensor<4xi32> -> tensor<4xi32>
  %2 = cuvil_tensor.scan add %x axis = 0 reverse : tensor<4xi32> -> tensor<4xi32>
  %3 = cuvil_tensor.scan add %x axis = 0 exclusive reverse : tensor<4xi32> -> tensor<4xi32>
  func.return %0, %1, %2, %3 : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
}
// CHECK: result 0 : tensor<4xi32> = [1, 3, 6, 10]
// CHECK-NEXT: result 1 : tensor<4xi32> = [1, 1, 2, 6]
// CHECK-NEXT: result 2 : tensor<4xi32> = [10, 9, 7, 4]
// CHECK-NEXT: result 3 : tensor<4xi32> = [9, 7, 4, 0]
