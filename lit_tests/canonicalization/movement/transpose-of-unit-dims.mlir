// RUN: cuvil-opt %s -p canonicalize | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 0 --pipeline canonicalize
// A transpose that moves dims of 1 alone => reshape.
// One that moves others stays.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %b = cuvil_tensor.reshape %x
// CHECK-NEXT: %d = cuvil_tensor.transpose %x input_order = [0, 3, 2, 1]
func.func @main(%x: tensor<1x4x1x8xf32>) -> (tensor<4x1x1x8xf32>, tensor<1x8x1x4xf32>) {
  %b = cuvil_tensor.transpose %x input_order = [1, 0, 2, 3] : tensor<1x4x1x8xf32> -> tensor<4x1x1x8xf32>
  %d = cuvil_tensor.transpose %x input_order = [0, 3, 2, 1] : tensor<1x4x1x8xf32> -> tensor<1x8x1x4xf32>
  func.return %b, %d : tensor<4x1x1x8xf32>, tensor<1x8x1x4xf32>
}
