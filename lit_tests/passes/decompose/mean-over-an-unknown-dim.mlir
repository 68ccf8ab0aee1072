// RUN: cuvil-opt %s -p decompose | filecheck %s
// RUN: cuvil-run %s --random --pipeline decompose --compare --no-print --tolerance 0
// How many elements a mean is of is the value of the dim, which only running tells.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4x?xf32, #cuvil_tensor.dims<4, "s0">>) -> tensor<4x?xf32, #cuvil_tensor.dims<4, "s0">> {
  %y = cuvil_tensor.rms_norm %x axes = [1] eps = 1.0e-06 : tensor<4x?xf32, #cuvil_tensor.dims<4, "s0">> -> tensor<4x?xf32, #cuvil_tensor.dims<4, "s0">>
  func.return %y : tensor<4x?xf32, #cuvil_tensor.dims<4, "s0">>
}
// CHECK-NEXT: [[V0:%.+]] = cuvil_tensor.binary mul %x, %x : tensor<4x?xf32, #cuvil_tensor.dims<4, "s0">>
// CHECK-NEXT: [[V1:%.+]] = cuvil_tensor.reduce add [[V0]] axes = [1] : tensor<4x?xf32, #cuvil_tensor.dims<4, "s0">> -> tensor<4xf32>
// CHECK-NEXT: [[V4:%.+]] = cuvil_tensor.size "s0" : tensor<f32>
// CHECK-NEXT: [[V5:%.+]] = cuvil_tensor.broadcast [[V4]] axes = []
// CHECK-NEXT: [[V6:%.+]] = cuvil_tensor.binary div [[V1]], [[V5]]
// CHECK-NEXT: [[V7:%.+]] = cuvil_tensor.constant dense<1.000000e-06>
// CHECK-NEXT: [[V8:%.+]] = cuvil_tensor.broadcast [[V7]] axes = []
// CHECK-NEXT: [[V9:%.+]] = cuvil_tensor.binary add [[V6]], [[V8]]
// CHECK-NEXT: [[V10:%.+]] = cuvil_tensor.unary rsqrt [[V9]]
// CHECK-NEXT: [[V11:%.+]] = cuvil_tensor.broadcast [[V10]] axes = [0] : tensor<4xf32> -> tensor<4x?xf32, #cuvil_tensor.dims<4, "s0">>
// CHECK-NEXT: %y = cuvil_tensor.binary mul %x, [[V11]] : tensor<4x?xf32, #cuvil_tensor.dims<4, "s0">>
// CHECK-NEXT: func.return %y : tensor<4x?xf32, #cuvil_tensor.dims<4, "s0">>
