// RUN: cuvil-opt %s -p canonicalize | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 0 --pipeline canonicalize
// slice (broadcast x) along repeated dims => broadcast x to less.
// Along the dims of x it stays.
// CHECK-LABEL: func.func @main
// CHECK: %b = cuvil_tensor.broadcast %x axes = [1]
// CHECK-NEXT: %d = cuvil_tensor.slice %a
func.func @main(%x: tensor<4xf32>) -> (tensor<2x4xf32>, tensor<5x3xf32>) {
  %a = cuvil_tensor.broadcast %x axes = [1] : tensor<4xf32> -> tensor<5x4xf32>
  %b = cuvil_tensor.slice %a starts = [1, 0] steps = [2, 1] : tensor<5x4xf32> -> tensor<2x4xf32>
  %d = cuvil_tensor.slice %a starts = [0, 1] steps = [1, 1] : tensor<5x4xf32> -> tensor<5x3xf32>
  func.return %b, %d : tensor<2x4xf32>, tensor<5x3xf32>
}
