// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// Sizes as an index or a 0-d tensor. Every form prints as it was written; the generic form is checked too.

// CHECK-LABEL: func.func @forms
func.func @forms(%x: tensor<?x8xf32, #cuvil_tensor.dims<"s0", 8>>) {
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.size "2*s0 + 1" : index
  %0 = cuvil_tensor.size "2*s0 + 1" : index
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.size "((s0) floordiv 2)" : tensor<f32>
  %1 = cuvil_tensor.size "((s0) floordiv 2)" : tensor<f32>
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.size "7" : tensor<i64>
  %2 = cuvil_tensor.size "7" : tensor<i64>
  func.return
}
