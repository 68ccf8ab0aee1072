// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// The position of the largest or smallest element. Every form prints as it was written; the generic form is checked too.

// CHECK-LABEL: func.func @forms
func.func @forms(%x: tensor<4x8xf32>) {
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.arg_reduce max %{{.*}} axis = 1 : tensor<4x8xf32> -> tensor<4xi64>
  %0 = cuvil_tensor.arg_reduce max %x axis = 1 : tensor<4x8xf32> -> tensor<4xi64>
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.arg_reduce min %{{.*}} axis = 0 keepdims : tensor<4x8xf32> -> tensor<1x8xi64>
  %1 = cuvil_tensor.arg_reduce min %x axis = 0 keepdims : tensor<4x8xf32> -> tensor<1x8xi64>
  func.return
}
