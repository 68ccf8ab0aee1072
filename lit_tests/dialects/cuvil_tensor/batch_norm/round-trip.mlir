// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// Normalization with given statistics for each channel. Every form prints as it was written; the generic form is checked too.

// CHECK-LABEL: func.func @forms
func.func @forms(%x: tensor<1x2x4xf32>, %m: tensor<2xf32>, %v: tensor<2xf32>, %w: tensor<2xf32>, %b: tensor<2xf32>) {
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.batch_norm %{{.*}}, %{{.*}}, %{{.*}} weight = %{{.*}} bias = %{{.*}} axis = 1 eps = 1.000000e-05 : tensor<1x2x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32> -> tensor<1x2x4xf32>
  %0 = cuvil_tensor.batch_norm %x, %m, %v weight = %w bias = %b axis = 1 eps = 1.000000e-05 : tensor<1x2x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32> -> tensor<1x2x4xf32>
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.batch_norm %{{.*}}, %{{.*}}, %{{.*}} axis = 1 eps = 1.000000e-05 : tensor<1x2x4xf32>, tensor<2xf32>, tensor<2xf32> -> tensor<1x2x4xf32>
  %1 = cuvil_tensor.batch_norm %x, %m, %v axis = 1 eps = 1.000000e-05 : tensor<1x2x4xf32>, tensor<2xf32>, tensor<2xf32> -> tensor<1x2x4xf32>
  func.return
}
