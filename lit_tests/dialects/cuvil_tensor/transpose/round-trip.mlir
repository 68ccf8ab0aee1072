// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// Dims in another order. Every form prints as it was written; the generic form is checked too.

// CHECK-LABEL: func.func @forms
func.func @forms(%x: tensor<2x3x4xf32>) {
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.transpose %{{.*}} input_order = [0, 2, 1] : tensor<2x3x4xf32> -> tensor<2x4x3xf32>
  %0 = cuvil_tensor.transpose %x input_order = [0, 2, 1] : tensor<2x3x4xf32> -> tensor<2x4x3xf32>
  func.return
}
