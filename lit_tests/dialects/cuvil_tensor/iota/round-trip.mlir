// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// Positions along an axis. Every form prints as it was written; the generic form is checked too.

// CHECK-LABEL: func.func @forms
func.func @forms() {
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.iota axis = 0 : tensor<4xi64>
  %0 = cuvil_tensor.iota axis = 0 : tensor<4xi64>
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.iota axis = 1 : tensor<2x3xf32>
  %1 = cuvil_tensor.iota axis = 1 : tensor<2x3xf32>
  func.return
}
