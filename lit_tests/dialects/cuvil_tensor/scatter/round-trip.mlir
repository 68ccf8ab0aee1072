// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// A copy with updates at computed positions. Every form prints as it was written; the generic form is checked too.

// CHECK-LABEL: func.func @forms
func.func @forms(%x: tensor<9x8xf32>, %u: tensor<5x8xf32>, %i: tensor<5xi64>) {
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.scatter add %{{.*}}, %{{.*}}, %{{.*}} axes = [0] : tensor<9x8xf32>, tensor<5x8xf32>, tensor<5xi64> -> tensor<9x8xf32>
  %0 = cuvil_tensor.scatter add %x, %u, %i axes = [0] : tensor<9x8xf32>, tensor<5x8xf32>, tensor<5xi64> -> tensor<9x8xf32>
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.scatter assign %{{.*}}, %{{.*}}, %{{.*}} axes = [0] : tensor<9x8xf32>, tensor<5x8xf32>, tensor<5xi64> -> tensor<9x8xf32>
  %1 = cuvil_tensor.scatter assign %x, %u, %i axes = [0] : tensor<9x8xf32>, tensor<5x8xf32>, tensor<5xi64> -> tensor<9x8xf32>
  func.return
}
