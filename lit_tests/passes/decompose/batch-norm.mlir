// RUN: cuvil-opt %s -p decompose | filecheck %s
// RUN: cuvil-run %s --random --pipeline decompose --compare --no-print --tolerance 0
// Scale and shift come from the parameters alone, so that they can be computed ahead.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<1x2x4xf32>, %m: tensor<2xf32>, %v: tensor<2xf32>, %w: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<1x2x4xf32> {
  %y = cuvil_tensor.batch_norm %x, %m, %v weight = %w bias = %b axis = 1 eps = 1.0e-05 : tensor<1x2x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32> -> tensor<1x2x4xf32>
  func.return %y : tensor<1x2x4xf32>
}
// CHECK-NEXT: [[V0:%.+]] = cuvil_tensor.constant dense<1.000000e-05>
// CHECK-NEXT: [[V1:%.+]] = cuvil_tensor.broadcast [[V0]] axes = []
// CHECK-NEXT: [[V2:%.+]] = cuvil_tensor.binary add %v, [[V1]]
// CHECK-NEXT: [[V3:%.+]] = cuvil_tensor.unary rsqrt [[V2]]
// CHECK-NEXT: [[V4:%.+]] = cuvil_tensor.binary mul %w, [[V3]]
// CHECK-NEXT: [[V5:%.+]] = cuvil_tensor.binary mul %m, [[V4]]
// CHECK-NEXT: [[V6:%.+]] = cuvil_tensor.binary sub %b, [[V5]]
// CHECK-NEXT: [[V7:%.+]] = cuvil_tensor.broadcast [[V4]] axes = [1]
// CHECK-NEXT: [[V8:%.+]] = cuvil_tensor.binary mul %x, [[V7]]
// CHECK-NEXT: [[V9:%.+]] = cuvil_tensor.broadcast [[V6]] axes = [1]
// CHECK-NEXT: %y = cuvil_tensor.binary add [[V8]], [[V9]]
// CHECK-NEXT: func.return %y : tensor<1x2x4xf32>
