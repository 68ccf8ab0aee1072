// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// Elements at regular positions of each dim. Every form prints as it was written; the generic form is checked too.

// CHECK-LABEL: func.func @forms
func.func @forms(%x: tensor<4x8xf32>) {
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.slice %{{.*}} starts = [0, 1] steps = [1, 2] : tensor<4x8xf32> -> tensor<4x3xf32>
  %0 = cuvil_tensor.slice %x starts = [0, 1] steps = [1, 2] : tensor<4x8xf32> -> tensor<4x3xf32>
  func.return
}

// CHECK-LABEL: func.func @dynamic
func.func @dynamic(%x: tensor<?x8xf32, #cuvil_tensor.dims<"s0 + 1", 8>>) {
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.slice %{{.*}} starts = [1, 0] steps = [1, 1] : tensor<?x8xf32, #cuvil_tensor.dims<"s0 + 1", 8>> -> tensor<?x8xf32, #cuvil_tensor.dims<"s0", 8>>
  %0 = cuvil_tensor.slice %x starts = [1, 0] steps = [1, 1] : tensor<?x8xf32, #cuvil_tensor.dims<"s0 + 1", 8>> -> tensor<?x8xf32, #cuvil_tensor.dims<"s0", 8>>
  func.return
}
