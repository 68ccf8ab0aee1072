// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// Elements in opposite order. Every form prints as it was written; the generic form is checked too.

// CHECK-LABEL: func.func @forms
func.func @forms(%x: tensor<2x4xf32>) {
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.reverse %{{.*}} axes = [1] : tensor<2x4xf32> -> tensor<2x4xf32>
  %0 = cuvil_tensor.reverse %x axes = [1] : tensor<2x4xf32> -> tensor<2x4xf32>
  func.return
}
