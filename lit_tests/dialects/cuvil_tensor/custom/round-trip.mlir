// RUN: cuvil-opt %s --load-pass-plugin=%S/Inputs/custom_ops.py --verify-roundtrip | filecheck %s
// A custom op has the name of its registration, tensors in parentheses and what else it takes in braces.

// CHECK-LABEL: func.func @two_tensors
// CHECK: cuvil_tensor.custom @"mylib::add_relu"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
func.func @two_tensors(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = cuvil_tensor.custom @"mylib::add_relu"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @arguments
// CHECK: cuvil_tensor.custom @"mylib::scaled"(%x) {alpha = 2.000000e+00 : f64} : (tensor<4xf32>) -> tensor<4xf32>
func.func @arguments(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = cuvil_tensor.custom @"mylib::scaled"(%x) {alpha = 2.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
