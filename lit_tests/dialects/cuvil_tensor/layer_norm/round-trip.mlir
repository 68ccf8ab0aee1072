// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// Normalization over axes, scaled and shifted. Every form prints as it was written; the generic form is checked too.

// CHECK-LABEL: func.func @forms
func.func @forms(%x: tensor<4x8xf32>, %w: tensor<8xf32>, %b: tensor<8xf32>) {
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.layer_norm %{{.*}} weight = %{{.*}} bias = %{{.*}} axes = [1] eps = 1.000000e-05 : tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32> -> tensor<4x8xf32>
  %0 = cuvil_tensor.layer_norm %x weight = %w bias = %b axes = [1] eps = 1.000000e-05 : tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32> -> tensor<4x8xf32>
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.layer_norm %{{.*}} bias = %{{.*}} axes = [1] eps = 1.000000e-05 : tensor<4x8xf32>, tensor<8xf32> -> tensor<4x8xf32>
  %1 = cuvil_tensor.layer_norm %x bias = %b axes = [1] eps = 1.000000e-05 : tensor<4x8xf32>, tensor<8xf32> -> tensor<4x8xf32>
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.layer_norm %{{.*}} axes = [0, 1] eps = 1.000000e-05 : tensor<4x8xf32> -> tensor<4x8xf32>
  %2 = cuvil_tensor.layer_norm %x axes = [0, 1] eps = 1.000000e-05 : tensor<4x8xf32> -> tensor<4x8xf32>
  func.return
}
