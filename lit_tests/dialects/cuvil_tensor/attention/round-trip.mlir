// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// Scaled dot-product attention over heads. Every form prints as it was written; the generic form is checked too.

// CHECK-LABEL: func.func @forms
func.func @forms(%q: tensor<1x4x3x8xf32>, %k: tensor<1x2x5x8xf32>, %v: tensor<1x2x5x6xf32>, %m: tensor<1x4x3x5xi1>, %f: tensor<1x4x3x5xf32>) {
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.attention %{{.*}}, %{{.*}}, %{{.*}} scale = 1.250000e-01 : tensor<1x4x3x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x6xf32> -> tensor<1x4x3x6xf32>
  %0 = cuvil_tensor.attention %q, %k, %v scale = 1.250000e-01 : tensor<1x4x3x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x6xf32> -> tensor<1x4x3x6xf32>
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.attention %{{.*}}, %{{.*}}, %{{.*}} causal scale = 1.250000e-01 : tensor<1x4x3x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x6xf32> -> tensor<1x4x3x6xf32>
  %1 = cuvil_tensor.attention %q, %k, %v causal scale = 1.250000e-01 : tensor<1x4x3x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x6xf32> -> tensor<1x4x3x6xf32>
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.attention %{{.*}}, %{{.*}}, %{{.*}} mask = %{{.*}} scale = 1.250000e-01 : tensor<1x4x3x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x6xf32>, tensor<1x4x3x5xi1> -> tensor<1x4x3x6xf32>
  %2 = cuvil_tensor.attention %q, %k, %v mask = %m scale = 1.250000e-01 : tensor<1x4x3x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x6xf32>, tensor<1x4x3x5xi1> -> tensor<1x4x3x6xf32>
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.attention %{{.*}}, %{{.*}}, %{{.*}} mask = %{{.*}} scale = 1.250000e-01 : tensor<1x4x3x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x6xf32>, tensor<1x4x3x5xf32> -> tensor<1x4x3x6xf32>
  %3 = cuvil_tensor.attention %q, %k, %v mask = %f scale = 1.250000e-01 : tensor<1x4x3x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x6xf32>, tensor<1x4x3x5xf32> -> tensor<1x4x3x6xf32>
  func.return
}
