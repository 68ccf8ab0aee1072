// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// The logarithm of softmax. Every form prints as it was written; the generic form is checked too.

// CHECK-LABEL: func.func @forms
func.func @forms(%x: tensor<4x8xf32>) {
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.log_softmax %{{.*}} axis = 0 : tensor<4x8xf32> -> tensor<4x8xf32>
  %0 = cuvil_tensor.log_softmax %x axis = 0 : tensor<4x8xf32> -> tensor<4x8xf32>
  func.return
}
