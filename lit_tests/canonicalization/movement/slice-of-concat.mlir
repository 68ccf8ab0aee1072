// RUN: cuvil-opt %s -p canonicalize | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 0 --pipeline canonicalize
// slice (concat x, y) within one operand => slice of it.
// Across a boundary it stays.
// CHECK-LABEL: func.func @main
// CHECK: %b = cuvil_tensor.slice %y starts = [1] steps = [1] : tensor<4xf32> -> tensor<2xf32>
// CHECK-NEXT: %d = cuvil_tensor.slice %a starts = [2]
func.func @main(%x: tensor<3xf32>, %y: tensor<4xf32>) -> (tensor<2xf32>, tensor<3xf32>) {
  %a = cuvil_tensor.concat %x, %y axis = 0 : tensor<3xf32>, tensor<4xf32> -> tensor<7xf32>
  %b = cuvil_tensor.slice %a starts = [4] steps = [1] : tensor<7xf32> -> tensor<2xf32>
  %d = cuvil_tensor.slice %a starts = [2] steps = [1] : tensor<7xf32> -> tensor<3xf32>
  func.return %b, %d : tensor<2xf32>, tensor<3xf32>
}
