// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// Operands one after the other. Every form prints as it was written; the generic form is checked too.

// CHECK-LABEL: func.func @forms
func.func @forms(%x: tensor<2x4xf32>, %y: tensor<3x4xf32>) {
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.concat %{{.*}}, %{{.*}} axis = 0 : tensor<2x4xf32>, tensor<3x4xf32> -> tensor<5x4xf32>
  %0 = cuvil_tensor.concat %x, %y axis = 0 : tensor<2x4xf32>, tensor<3x4xf32> -> tensor<5x4xf32>
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.concat %{{.*}} axis = 1 : tensor<2x4xf32> -> tensor<2x4xf32>
  %1 = cuvil_tensor.concat %x axis = 1 : tensor<2x4xf32> -> tensor<2x4xf32>
  func.return
}

// CHECK-LABEL: func.func @dynamic
func.func @dynamic(%x: tensor<?xf32, #cuvil_tensor.dims<"s0">>, %y: tensor<?xf32, #cuvil_tensor.dims<"s1">>) {
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.concat %{{.*}}, %{{.*}} axis = 0 : tensor<?xf32, #cuvil_tensor.dims<"s0">>, tensor<?xf32, #cuvil_tensor.dims<"s1">> -> tensor<?xf32, #cuvil_tensor.dims<"s0 + s1">>
  %0 = cuvil_tensor.concat %x, %y axis = 0 : tensor<?xf32, #cuvil_tensor.dims<"s0">>, tensor<?xf32, #cuvil_tensor.dims<"s1">> -> tensor<?xf32, #cuvil_tensor.dims<"s0 + s1">>
  func.return
}
