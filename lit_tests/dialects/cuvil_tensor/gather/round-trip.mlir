// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// Elements at computed positions. Every form prints as it was written; the generic form is checked too.

// CHECK-LABEL: func.func @forms
func.func @forms(%t: tensor<100x8xf32>, %i: tensor<2x5xi64>, %j: tensor<2x5xi64>) {
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.gather %{{.*}}, %{{.*}} axes = [0] : tensor<100x8xf32>, tensor<2x5xi64> -> tensor<2x5x8xf32>
  %0 = cuvil_tensor.gather %t, %i axes = [0] : tensor<100x8xf32>, tensor<2x5xi64> -> tensor<2x5x8xf32>
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.gather %{{.*}}, %{{.*}}, %{{.*}} axes = [0, 1] : tensor<100x8xf32>, tensor<2x5xi64>, tensor<2x5xi64> -> tensor<2x5xf32>
  %1 = cuvil_tensor.gather %t, %i, %j axes = [0, 1] : tensor<100x8xf32>, tensor<2x5xi64>, tensor<2x5xi64> -> tensor<2x5xf32>
  func.return
}
