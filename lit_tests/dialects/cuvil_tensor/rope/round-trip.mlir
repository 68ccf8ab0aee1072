// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// Rotary position embedding. Every form prints as it was written; the generic form is checked too.

// CHECK-LABEL: func.func @forms
func.func @forms(%x: tensor<2x4xf32>, %c: tensor<2x4xf32>, %s: tensor<2x4xf32>) {
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.rope %{{.*}}, %{{.*}}, %{{.*}} : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32> -> tensor<2x4xf32>
  %0 = cuvil_tensor.rope %x, %c, %s : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32> -> tensor<2x4xf32>
  func.return
}
