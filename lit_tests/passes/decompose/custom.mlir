// RUN: cuvil-opt %s --load-pass-plugin=%S/../../dialects/cuvil_tensor/custom/Inputs/custom_ops.py -p decompose --validate | filecheck %s
// A custom op becomes what its registration computes it with; validation holds that against its reference.

// CHECK-LABEL: func.func @expression
// CHECK-NOT: cuvil_tensor.custom
// CHECK: [[SUM:%.*]] = cuvil_tensor.binary add %x, %y
// CHECK: cuvil_tensor.binary max [[SUM]]
func.func @expression(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = cuvil_tensor.custom @"mylib::add_relu"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// Narrow floats are computed in f32 and rounded once.
// CHECK-LABEL: func.func @narrow
// CHECK: cuvil_tensor.cast %x : tensor<4xf16> -> tensor<4xf32>
// CHECK: cuvil_tensor.cast {{.*}} : tensor<4xf32> -> tensor<4xf16>
func.func @narrow(%x: tensor<4xf16>) -> tensor<4xf16> {
  %0 = cuvil_tensor.custom @"mylib::scaled"(%x) {alpha = 2.0 : f64} : (tensor<4xf16>) -> tensor<4xf16>
  func.return %0 : tensor<4xf16>
}

// What is computed by a call-back stays whole.
// CHECK-LABEL: func.func @opaque
// CHECK: cuvil_tensor.custom @"mylib::opaque"
func.func @opaque(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = cuvil_tensor.custom @"mylib::opaque"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
