// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// All elements along axes combined. Every form prints as it was written; the generic form is checked too.

// CHECK-LABEL: func.func @forms
func.func @forms(%x: tensor<4x8xf32>, %b: tensor<4xi1>) {
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.reduce add %{{.*}} axes = [1] : tensor<4x8xf32> -> tensor<4xf32>
  %0 = cuvil_tensor.reduce add %x axes = [1] : tensor<4x8xf32> -> tensor<4xf32>
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.reduce max %{{.*}} axes = [0, 1] keepdims : tensor<4x8xf32> -> tensor<1x1xf32>
  %1 = cuvil_tensor.reduce max %x axes = [0, 1] keepdims : tensor<4x8xf32> -> tensor<1x1xf32>
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.reduce and %{{.*}} axes = [0] : tensor<4xi1> -> tensor<i1>
  %2 = cuvil_tensor.reduce and %b axes = [0] : tensor<4xi1> -> tensor<i1>
  func.return
}
