// RUN: cuvil-opt %s -p canonicalize | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 0 --pipeline canonicalize
// broadcast (broadcast x) => broadcast x along the composed axes.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %b = cuvil_tensor.broadcast %x axes = [1, 3] : tensor<4x1xf32> -> tensor<5x4x2x3xf32>
func.func @main(%x: tensor<4x1xf32>) -> (tensor<5x4x2x3xf32>) {
  %a = cuvil_tensor.broadcast %x axes = [0, 2] : tensor<4x1xf32> -> tensor<4x2x1xf32>
  %b = cuvil_tensor.broadcast %a axes = [1, 2, 3] : tensor<4x2x1xf32> -> tensor<5x4x2x3xf32>
  func.return %b : tensor<5x4x2x3xf32>
}
