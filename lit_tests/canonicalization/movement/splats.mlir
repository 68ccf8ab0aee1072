// RUN: cuvil-opt %s -p canonicalize | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 0 --pipeline canonicalize
// Movement of a splat constant => the constant of that shape.
// A constant with several elements stays.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %d = cuvil_tensor.constant dense<2.000000e+00> : tensor<4x3xf32>
// CHECK-NEXT: %e = cuvil_tensor.constant
// CHECK-NEXT: %h = cuvil_tensor.transpose %e
func.func @main() -> (tensor<4x3xf32>, tensor<2x5xf32>, tensor<5x2xf32>) {
  %a = cuvil_tensor.constant dense<2.0> : tensor<f32>
  %b = cuvil_tensor.broadcast %a axes = [] : tensor<f32> -> tensor<12xf32>
  %c = cuvil_tensor.reshape %b : tensor<12xf32> -> tensor<3x4xf32>
  %d = cuvil_tensor.transpose %c input_order = [1, 0] : tensor<3x4xf32> -> tensor<4x3xf32>
  %e = cuvil_tensor.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0, 9.0]]> : tensor<2x5xf32>
  %h = cuvil_tensor.transpose %e input_order = [1, 0] : tensor<2x5xf32> -> tensor<5x2xf32>
  func.return %d, %e, %h : tensor<4x3xf32>, tensor<2x5xf32>, tensor<5x2xf32>
}
