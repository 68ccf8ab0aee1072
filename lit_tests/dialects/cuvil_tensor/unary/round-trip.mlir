// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// A scalar function of one operand at every point. Every form prints as it was written; the generic form is checked too.

// CHECK-LABEL: func.func @forms
func.func @forms(%x: tensor<4xf32>, %b: tensor<4xi1>, %n: tensor<2x3xi64>) {
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.unary exp %{{.*}} : tensor<4xf32>
  %0 = cuvil_tensor.unary exp %x : tensor<4xf32>
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.unary not %{{.*}} : tensor<4xi1>
  %1 = cuvil_tensor.unary not %b : tensor<4xi1>
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.unary abs %{{.*}} : tensor<2x3xi64>
  %2 = cuvil_tensor.unary abs %n : tensor<2x3xi64>
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.unary isnan %{{.*}} : tensor<4xf32>
  %3 = cuvil_tensor.unary isnan %x : tensor<4xf32>
  func.return
}

// CHECK-LABEL: func.func @dynamic
func.func @dynamic(%x: tensor<?x4xf32, #cuvil_tensor.dims<"s0", 4>>) {
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.unary tanh %{{.*}} : tensor<?x4xf32, #cuvil_tensor.dims<"s0", 4>>
  %0 = cuvil_tensor.unary tanh %x : tensor<?x4xf32, #cuvil_tensor.dims<"s0", 4>>
  func.return
}
