// RUN: cuvil-run %s | filecheck %s
// Of several assigned to one place the last stays; all of several added count.

func.func @main() -> (tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) {
  %x = cuvil_tensor.constant dense<[10, 20, 30]> : tensor<3xi32>
  %u = cuvil_tensor.constant dense<[1, 2, 3]> : tensor<3xi32>
  %i = cuvil_tensor.constant dense<[1, -1, 1]> : tensor<3xi64>
  %0 = cuvil_tensor.scatter assign %x, %u, %i axes = [0] : tensor<3xi32>, tensor<3xi32>, tensor<3xi64> -> tensor<3xi32>
  %1 = cuvil_tensor.scatter add %x, %u, %i axes = [0] : tensor<3xi32>, tensor<3xi32>, tensor<3xi64> -> tensor<3xi32>
  %2 = cuvil_tensor.scatter min %x, %u, %i axes = [0] : tensor<3xi32>, tensor<3xi32>, tensor<3xi64> -> tensor<3xi32>
  func.return %0, %1, %2 : tensor<3xi32>, tensor<3xi32>, tensor<3xi32>
}
// CHECK: result 0 : tensor<3xi32> = [10, 3, 2]
// CHECK-NEXT: result 1 : tensor<3xi32> = [10, 24, 32]
// CHECK-NEXT: result 2 : tensor<3xi32> = [10, 1, 2]
