// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// Elements before and after each dim. Every form prints as it was written; the generic form is checked too.

// CHECK-LABEL: func.func @forms
func.func @forms(%x: tensor<4x8xf32>, %v: tensor<f32>) {
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.pad %{{.*}}, %{{.*}} low = [0, 1] high = [0, 2] : tensor<4x8xf32>, tensor<f32> -> tensor<4x11xf32>
  %0 = cuvil_tensor.pad %x, %v low = [0, 1] high = [0, 2] : tensor<4x8xf32>, tensor<f32> -> tensor<4x11xf32>
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.pad %{{.*}}, %{{.*}} low = [-1, 0] high = [0, -3] : tensor<4x8xf32>, tensor<f32> -> tensor<3x5xf32>
  %1 = cuvil_tensor.pad %x, %v low = [-1, 0] high = [0, -3] : tensor<4x8xf32>, tensor<f32> -> tensor<3x5xf32>
  func.return
}
