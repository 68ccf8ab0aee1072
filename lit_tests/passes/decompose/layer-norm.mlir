// RUN: cuvil-opt %s -p decompose | filecheck %s
// RUN: cuvil-run %s --random --pipeline decompose --compare --no-print --tolerance 0
// Two passes, corrected: what the rounded mean is wrong by is taken off the differences and their squares.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4x8xf32>, %w: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %y = cuvil_tensor.layer_norm %x weight = %w bias = %b axes = [1] eps = 1.0e-05 : tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32> -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
// CHECK: [[SUM:%.+]] = cuvil_tensor.reduce add %x axes = [1]
// CHECK: [[CENTERED:%.+]] = cuvil_tensor.binary sub %x, %{{.+}} : tensor<4x8xf32>
// CHECK: cuvil_tensor.reduce add [[CENTERED]] axes = [1]
// CHECK: [[ERROR:%.+]] = cuvil_tensor.binary div
// CHECK: [[SQUARES:%.+]] = cuvil_tensor.binary mul [[CENTERED]], [[CENTERED]]
// CHECK: cuvil_tensor.reduce add [[SQUARES]] axes = [1]
// CHECK: [[CORRECTION:%.+]] = cuvil_tensor.binary mul [[ERROR]], [[ERROR]]
// CHECK: cuvil_tensor.binary sub %{{.+}}, [[CORRECTION]]
// CHECK: cuvil_tensor.unary rsqrt
// CHECK: [[SHIFT:%.+]] = cuvil_tensor.broadcast [[ERROR]] axes = [0]
// CHECK: cuvil_tensor.binary sub [[CENTERED]], [[SHIFT]]
// CHECK: [[WEIGHT:%.+]] = cuvil_tensor.broadcast %w axes = [1]
// CHECK: cuvil_tensor.binary mul %{{.+}}, [[WEIGHT]]
// CHECK: [[BIAS:%.+]] = cuvil_tensor.broadcast %b axes = [1]
// CHECK: %y = cuvil_tensor.binary add %{{.+}}, [[BIAS]]
