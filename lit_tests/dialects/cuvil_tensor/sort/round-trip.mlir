// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// Stable sort, with the positions. Every form prints as it was written; the generic form is checked too.

// CHECK-LABEL: func.func @forms
func.func @forms(%x: tensor<4x8xf32>) {
  // CHECK-NEXT: %{{.*}}, %{{.*}} = cuvil_tensor.sort %{{.*}} axis = 1 : tensor<4x8xf32> -> (tensor<4x8xf32>, tensor<4x8xi64>)
  %0, %1 = cuvil_tensor.sort %x axis = 1 : tensor<4x8xf32> -> (tensor<4x8xf32>, tensor<4x8xi64>)
  // CHECK-NEXT: %{{.*}}, %{{.*}} = cuvil_tensor.sort %{{.*}} axis = 0 descending : tensor<4x8xf32> -> (tensor<4x8xf32>, tensor<4x8xi64>)
  %2, %3 = cuvil_tensor.sort %x axis = 0 descending : tensor<4x8xf32> -> (tensor<4x8xf32>, tensor<4x8xi64>)
  func.return
}
