// RUN: cuvil-opt %s -p decompose | filecheck %s
// RUN: cuvil-run %s --random --pipeline decompose --compare --no-print --tolerance 0
// Two passes: the variance is that of centered elements.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4x8xf32>, %w: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %y = cuvil_tensor.layer_norm %x weight = %w bias = %b axes = [1] eps = 1.0e-05 : tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32> -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
// CHECK-NEXT: [[V0:%.+]] = cuvil_tensor.reduce add %x axes = [1]
// CHECK-NEXT: [[V1:%.+]] = cuvil_tensor.constant dense<8.000000e+00>
// CHECK-NEXT: [[V2:%.+]] = cuvil_tensor.broadcast [[V1]] axes = []
// CHECK-NEXT: [[V3:%.+]] = cuvil_tensor.binary div [[V0]], [[V2]]
// CHECK-NEXT: [[V4:%.+]] = cuvil_tensor.broadcast [[V3]] axes = [0]
// CHECK-NEXT: [[V5:%.+]] = cuvil_tensor.binary sub %x, [[V4]]
// CHECK-NEXT: [[V6:%.+]] = cuvil_tensor.binary mul [[V5]], [[V5]]
// CHECK-NEXT: [[V7:%.+]] = cuvil_tensor.reduce add [[V6]] axes = [1]
// CHECK-NEXT: [[V8:%.+]] = cuvil_tensor.constant dense<8.000000e+00>
// CHECK-NEXT: [[V9:%.+]] = cuvil_tensor.broadcast [[V8]] axes = []
// CHECK-NEXT: [[V10:%.+]] = cuvil_tensor.binary div [[V7]], [[V9]]
// CHECK-NEXT: [[V11:%.+]] = cuvil_tensor.constant dense<1.000000e-05>
// CHECK-NEXT: [[V12:%.+]] = cuvil_tensor.broadcast [[V11]] axes = []
// CHECK-NEXT: [[V13:%.+]] = cuvil_tensor.binary add [[V10]], [[V12]]
// CHECK-NEXT: [[V14:%.+]] = cuvil_tensor.unary rsqrt [[V13]]
// CHECK-NEXT: [[V15:%.+]] = cuvil_tensor.broadcast [[V14]] axes = [0]
// CHECK-NEXT: [[V16:%.+]] = cuvil_tensor.binary mul [[V5]], [[V15]]
// CHECK-NEXT: [[V17:%.+]] = cuvil_tensor.broadcast %w axes = [1]
// CHECK-NEXT: [[V18:%.+]] = cuvil_tensor.binary mul [[V16]], [[V17]]
// CHECK-NEXT: [[V19:%.+]] = cuvil_tensor.broadcast %b axes = [1]
// CHECK-NEXT: %y = cuvil_tensor.binary add [[V18]], [[V19]]
// CHECK-NEXT: func.return %y : tensor<4x8xf32>
