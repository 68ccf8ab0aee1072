// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// Division by the root mean square, scaled. Every form prints as it was written; the generic form is checked too.

// CHECK-LABEL: func.func @forms
func.func @forms(%x: tensor<4x8xf32>, %w: tensor<8xf32>) {
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.rms_norm %{{.*}} weight = %{{.*}} axes = [1] eps = 1.000000e-06 : tensor<4x8xf32>, tensor<8xf32> -> tensor<4x8xf32>
  %0 = cuvil_tensor.rms_norm %x weight = %w axes = [1] eps = 1.000000e-06 : tensor<4x8xf32>, tensor<8xf32> -> tensor<4x8xf32>
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.rms_norm %{{.*}} axes = [1] eps = 1.000000e-06 : tensor<4x8xf32> -> tensor<4x8xf32>
  %1 = cuvil_tensor.rms_norm %x axes = [1] eps = 1.000000e-06 : tensor<4x8xf32> -> tensor<4x8xf32>
  func.return
}
