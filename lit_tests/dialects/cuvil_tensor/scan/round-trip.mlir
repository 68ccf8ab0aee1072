// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// Running combination along an axis. Every form prints as it was written; the generic form is checked too.

// CHECK-LABEL: func.func @forms
func.func @forms(%x: tensor<4x8xf32>) {
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.scan add %{{.*}} axis = 1 : tensor<4x8xf32> -> tensor<4x8xf32>
  %0 = cuvil_tensor.scan add %x axis = 1 : tensor<4x8xf32> -> tensor<4x8xf32>
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.scan max %{{.*}} axis = 0 exclusive reverse : tensor<4x8xf32> -> tensor<4x8xf32>
  %1 = cuvil_tensor.scan max %x axis = 0 exclusive reverse : tensor<4x8xf32> -> tensor<4x8xf32>
  func.return
}
