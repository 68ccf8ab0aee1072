// RUN: cuvil-opt %s -p decompose | filecheck %s
// RUN: cuvil-run %s --random --pipeline decompose --compare --no-print --tolerance 0
// Groups become a dim of their own; the affine part is the channels'.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<1x4x8xf32>, %w: tensor<4xf32>) -> tensor<1x4x8xf32> {
  %y = cuvil_tensor.group_norm %x weight = %w groups = 2 eps = 1.0e-05 : tensor<1x4x8xf32>, tensor<4xf32> -> tensor<1x4x8xf32>
  func.return %y : tensor<1x4x8xf32>
}
// CHECK: [[GROUPED:%.+]] = cuvil_tensor.reshape %x : tensor<1x4x8xf32> -> tensor<1x2x2x8xf32>
// CHECK: cuvil_tensor.reduce add [[GROUPED]] axes = [2, 3]
// CHECK: [[CENTERED:%.+]] = cuvil_tensor.binary sub [[GROUPED]]
// CHECK: cuvil_tensor.reduce add [[CENTERED]] axes = [2, 3]
// CHECK: cuvil_tensor.unary rsqrt
// CHECK: [[CHANNELS:%.+]] = cuvil_tensor.reshape %{{.+}} : tensor<1x2x2x8xf32> -> tensor<1x4x8xf32>
// CHECK: [[WEIGHT:%.+]] = cuvil_tensor.broadcast %w axes = [1]
// CHECK: %y = cuvil_tensor.binary mul [[CHANNELS]], [[WEIGHT]]
