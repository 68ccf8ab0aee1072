// RUN: cuvil-opt %s -p canonicalize | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 0 --pipeline canonicalize
// A broadcast that only adds dims of 1 => reshape; broadcast (reshape that adds or drops dims of 1) => broadcast.
// A reshape that does more stays.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %b = cuvil_tensor.reshape %x : tensor<4x1xf32> -> tensor<1x4x1xf32>
// CHECK-NEXT: %d = cuvil_tensor.broadcast %x axes = [0, 1] : tensor<4x1xf32> -> tensor<4x5xf32>
// CHECK-NEXT: %g = cuvil_tensor.reshape %y
// CHECK-NEXT: %h = cuvil_tensor.broadcast %g axes = [0]
func.func @main(%x: tensor<4x1xf32>, %y: tensor<2x2xf32>) -> (tensor<1x4x1xf32>, tensor<4x5xf32>, tensor<4x5xf32>) {
  %b = cuvil_tensor.broadcast %x axes = [1, 2] : tensor<4x1xf32> -> tensor<1x4x1xf32>
  %c = cuvil_tensor.reshape %x : tensor<4x1xf32> -> tensor<4xf32>
  %d = cuvil_tensor.broadcast %c axes = [0] : tensor<4xf32> -> tensor<4x5xf32>
  %g = cuvil_tensor.reshape %y : tensor<2x2xf32> -> tensor<4xf32>
  %h = cuvil_tensor.broadcast %g axes = [0] : tensor<4xf32> -> tensor<4x5xf32>
  func.return %b, %d, %h : tensor<1x4x1xf32>, tensor<4x5xf32>, tensor<4x5xf32>
}
