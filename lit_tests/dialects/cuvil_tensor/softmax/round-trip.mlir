// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// exp(x - max) / sum along an axis. Every form prints as it was written; the generic form is checked too.

// CHECK-LABEL: func.func @forms
func.func @forms(%x: tensor<4x8xf32>) {
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.softmax %{{.*}} axis = 1 : tensor<4x8xf32> -> tensor<4x8xf32>
  %0 = cuvil_tensor.softmax %x axis = 1 : tensor<4x8xf32> -> tensor<4x8xf32>
  func.return
}
