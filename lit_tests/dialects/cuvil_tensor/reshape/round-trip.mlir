// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// The same elements in row-major order under another shape. Every form prints as it was written; the generic form is checked too.

// CHECK-LABEL: func.func @forms
func.func @forms(%x: tensor<2x4xf32>, %y: tensor<1xf32>) {
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.reshape %{{.*}} : tensor<2x4xf32> -> tensor<8xf32>
  %0 = cuvil_tensor.reshape %x : tensor<2x4xf32> -> tensor<8xf32>
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.reshape %{{.*}} : tensor<1xf32> -> tensor<f32>
  %1 = cuvil_tensor.reshape %y : tensor<1xf32> -> tensor<f32>
  func.return
}

// CHECK-LABEL: func.func @dynamic
func.func @dynamic(%x: tensor<?x4xf32, #cuvil_tensor.dims<"s0", 4>>) {
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.reshape %{{.*}} : tensor<?x4xf32, #cuvil_tensor.dims<"s0", 4>> -> tensor<?xf32, #cuvil_tensor.dims<"4*s0">>
  %0 = cuvil_tensor.reshape %x : tensor<?x4xf32, #cuvil_tensor.dims<"s0", 4>> -> tensor<?xf32, #cuvil_tensor.dims<"4*s0">>
  func.return
}
