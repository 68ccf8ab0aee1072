// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// Repetition along dims. Every form prints as it was written; the generic form is checked too.

// CHECK-LABEL: func.func @forms
func.func @forms(%x: tensor<8xf32>, %y: tensor<2x1xf32>, %z: tensor<f32>) {
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.broadcast %{{.*}} axes = [1] : tensor<8xf32> -> tensor<4x8xf32>
  %0 = cuvil_tensor.broadcast %x axes = [1] : tensor<8xf32> -> tensor<4x8xf32>
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.broadcast %{{.*}} axes = [0, 2] : tensor<2x1xf32> -> tensor<2x3x5xf32>
  %1 = cuvil_tensor.broadcast %y axes = [0, 2] : tensor<2x1xf32> -> tensor<2x3x5xf32>
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.broadcast %{{.*}} axes = [] : tensor<f32> -> tensor<2x2xf32>
  %2 = cuvil_tensor.broadcast %z axes = [] : tensor<f32> -> tensor<2x2xf32>
  func.return
}

// CHECK-LABEL: func.func @dynamic
func.func @dynamic(%x: tensor<8xf32>, %y: tensor<?xf32, #cuvil_tensor.dims<"s0">>) {
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.broadcast %{{.*}} axes = [1] : tensor<8xf32> -> tensor<?x8xf32, #cuvil_tensor.dims<"s0", 8>>
  %0 = cuvil_tensor.broadcast %x axes = [1] : tensor<8xf32> -> tensor<?x8xf32, #cuvil_tensor.dims<"s0", 8>>
  func.return
}
