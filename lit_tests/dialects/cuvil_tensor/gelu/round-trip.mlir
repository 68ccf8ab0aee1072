// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// x times the normal distribution's function of x. Every form prints as it was written; the generic form is checked too.

// CHECK-LABEL: func.func @forms
func.func @forms(%x: tensor<4xf32>) {
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.gelu %{{.*}} approximate = erf : tensor<4xf32> -> tensor<4xf32>
  %0 = cuvil_tensor.gelu %x approximate = erf : tensor<4xf32> -> tensor<4xf32>
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.gelu %{{.*}} approximate = tanh : tensor<4xf32> -> tensor<4xf32>
  %1 = cuvil_tensor.gelu %x approximate = tanh : tensor<4xf32> -> tensor<4xf32>
  func.return
}
