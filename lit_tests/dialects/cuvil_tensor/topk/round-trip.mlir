// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// The largest or smallest elements, sorted. Every form prints as it was written; the generic form is checked too.

// CHECK-LABEL: func.func @forms
func.func @forms(%x: tensor<4x8xf32>) {
  // CHECK-NEXT: %{{.*}}, %{{.*}} = cuvil_tensor.topk %{{.*}} k = 3 axis = 1 descending : tensor<4x8xf32> -> (tensor<4x3xf32>, tensor<4x3xi64>)
  %0, %1 = cuvil_tensor.topk %x k = 3 axis = 1 descending : tensor<4x8xf32> -> (tensor<4x3xf32>, tensor<4x3xi64>)
  func.return
}
