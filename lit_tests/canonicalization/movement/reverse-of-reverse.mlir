// RUN: cuvil-opt %s -p canonicalize | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 0 --pipeline canonicalize
// reverse (reverse x) => reverse along what is in one of them only, or x.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %b = cuvil_tensor.reverse %x axes = [1]
// CHECK-NEXT: func.return %b, %x
func.func @main(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %a = cuvil_tensor.reverse %x axes = [0] : tensor<4x8xf32> -> tensor<4x8xf32>
  %b = cuvil_tensor.reverse %a axes = [0, 1] : tensor<4x8xf32> -> tensor<4x8xf32>
  %c = cuvil_tensor.reverse %a axes = [0] : tensor<4x8xf32> -> tensor<4x8xf32>
  func.return %b, %c : tensor<4x8xf32>, tensor<4x8xf32>
}
