// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// x times a transposed weight plus a bias. Every form prints as it was written; the generic form is checked too.

// CHECK-LABEL: func.func @forms
func.func @forms(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>, %b: tensor<16xf32>) {
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.linear %{{.*}}, %{{.*}} bias = %{{.*}} : tensor<4x8xf32>, tensor<16x8xf32>, tensor<16xf32> -> tensor<4x16xf32>
  %0 = cuvil_tensor.linear %x, %w bias = %b : tensor<4x8xf32>, tensor<16x8xf32>, tensor<16xf32> -> tensor<4x16xf32>
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.linear %{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<16x8xf32> -> tensor<4x16xf32>
  %1 = cuvil_tensor.linear %x, %w : tensor<4x8xf32>, tensor<16x8xf32> -> tensor<4x16xf32>
  func.return
}
