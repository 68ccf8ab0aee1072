// RUN: cuvil-opt %s -p canonicalize | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 0 --pipeline canonicalize
// transpose (broadcast x) => broadcast x along the moved axes.
// Axes that would not increase stay: a broadcast cannot transpose.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %b = cuvil_tensor.broadcast %x axes = [0] : tensor<4xf32> -> tensor<4x5xf32>
// CHECK-NEXT: %c = cuvil_tensor.broadcast %y
// CHECK-NEXT: %d = cuvil_tensor.transpose %c
func.func @main(%x: tensor<4xf32>, %y: tensor<4x3xf32>) -> (tensor<4x5xf32>, tensor<3x4x5xf32>) {
  %a = cuvil_tensor.broadcast %x axes = [1] : tensor<4xf32> -> tensor<5x4xf32>
  %b = cuvil_tensor.transpose %a input_order = [1, 0] : tensor<5x4xf32> -> tensor<4x5xf32>
  %c = cuvil_tensor.broadcast %y axes = [1, 2] : tensor<4x3xf32> -> tensor<5x4x3xf32>
  %d = cuvil_tensor.transpose %c input_order = [2, 1, 0] : tensor<5x4x3xf32> -> tensor<3x4x5xf32>
  func.return %b, %d : tensor<4x5xf32>, tensor<3x4x5xf32>
}
