// RUN: %python -c "import numpy; numpy.savez('%t.npz', weight=numpy.array([1, 2, 3], 'f'))"
// RUN: cuvil-run %s --parameters %t.npz | filecheck %s
// An initializer is evaluated from the values given.

cuvil_tensor.global @weight : tensor<3xf32>
cuvil_tensor.global @doubled : tensor<3xf32> {
  %0 = cuvil_tensor.parameter @weight : tensor<3xf32>
  %1 = cuvil_tensor.binary add %0, %0 : tensor<3xf32>
  cuvil_tensor.init_yield %1 : tensor<3xf32>
}
func.func @main() -> (tensor<3xf32>, tensor<3xf32>) {
  %0 = cuvil_tensor.parameter @weight : tensor<3xf32>
  %1 = cuvil_tensor.parameter @doubled : tensor<3xf32>
  func.return %0, %1 : tensor<3xf32>, tensor<3xf32>
}
// CHECK: result 0 : tensor<3xf32> = [1, 2, 3]
// CHECK-NEXT: result 1 : tensor<3xf32> = [2, 4, 6]
