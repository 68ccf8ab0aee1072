// RUN: cuvil-opt %s -p decompose | filecheck %s
// RUN: cuvil-run %s --random --pipeline decompose --compare --no-print --tolerance 0
// Groups become a dim of their own; the affine part is the channels'.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<1x4x8xf32>, %w: tensor<4xf32>) -> tensor<1x4x8xf32> {
  %y = cuvil_tensor.group_norm %x weight = %w groups = 2 eps = 1.0e-05 : tensor<1x4x8xf32>, tensor<4xf32> -> tensor<1x4x8xf32>
  func.return %y : tensor<1x4x8xf32>
}
// CHECK-NEXT: [[V0:%.+]] = cuvil_tensor.reshape %x
// CHECK-NEXT: [[V1:%.+]] = cuvil_tensor.reduce add [[V0]] axes = [2, 3]
// CHECK-NEXT: [[V2:%.+]] = cuvil_tensor.constant dense<1.600000e+01>
// CHECK-NEXT: [[V3:%.+]] = cuvil_tensor.broadcast [[V2]] axes = []
// CHECK-NEXT: [[V4:%.+]] = cuvil_tensor.binary div [[V1]], [[V3]]
// CHECK-NEXT: [[V5:%.+]] = cuvil_tensor.broadcast [[V4]] axes = [0, 1]
// CHECK-NEXT: [[V6:%.+]] = cuvil_tensor.binary sub [[V0]], [[V5]]
// CHECK-NEXT: [[V7:%.+]] = cuvil_tensor.binary mul [[V6]], [[V6]]
// CHECK-NEXT: [[V8:%.+]] = cuvil_tensor.reduce add [[V7]] axes = [2, 3]
// CHECK-NEXT: [[V9:%.+]] = cuvil_tensor.constant dense<1.600000e+01>
// CHECK-NEXT: [[V10:%.+]] = cuvil_tensor.broadcast [[V9]] axes = []
// CHECK-NEXT: [[V11:%.+]] = cuvil_tensor.binary div [[V8]], [[V10]]
// CHECK-NEXT: [[V12:%.+]] = cuvil_tensor.constant dense<1.000000e-05>
// CHECK-NEXT: [[V13:%.+]] = cuvil_tensor.broadcast [[V12]] axes = []
// CHECK-NEXT: [[V14:%.+]] = cuvil_tensor.binary add [[V11]], [[V13]]
// CHECK-NEXT: [[V15:%.+]] = cuvil_tensor.unary rsqrt [[V14]]
// CHECK-NEXT: [[V16:%.+]] = cuvil_tensor.broadcast [[V15]] axes = [0, 1]
// CHECK-NEXT: [[V17:%.+]] = cuvil_tensor.binary mul [[V6]], [[V16]]
// CHECK-NEXT: [[V18:%.+]] = cuvil_tensor.reshape [[V17]]
// CHECK-NEXT: [[V19:%.+]] = cuvil_tensor.broadcast %w axes = [1]
// CHECK-NEXT: %y = cuvil_tensor.binary mul [[V18]], [[V19]]
// CHECK-NEXT: func.return %y : tensor<1x4x8xf32>
