// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// Normalization over groups of channels. Every form prints as it was written; the generic form is checked too.

// CHECK-LABEL: func.func @forms
func.func @forms(%x: tensor<1x4x8xf32>, %w: tensor<4xf32>, %b: tensor<4xf32>) {
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.group_norm %{{.*}} weight = %{{.*}} bias = %{{.*}} groups = 2 eps = 1.000000e-05 : tensor<1x4x8xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<1x4x8xf32>
  %0 = cuvil_tensor.group_norm %x weight = %w bias = %b groups = 2 eps = 1.000000e-05 : tensor<1x4x8xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<1x4x8xf32>
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.group_norm %{{.*}} groups = 4 eps = 1.000000e-05 : tensor<1x4x8xf32> -> tensor<1x4x8xf32>
  %1 = cuvil_tensor.group_norm %x groups = 4 eps = 1.000000e-05 : tensor<1x4x8xf32> -> tensor<1x4x8xf32>
  func.return
}
