// RUN: cuvil-opt %s -p canonicalize | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 0 --pipeline canonicalize
// transpose (transpose x by p) by q => transpose x by p[q], or x.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %b = cuvil_tensor.transpose %x input_order = [2, 1, 0]
// CHECK-NEXT: func.return %b, %x
func.func @main(%x: tensor<2x3x4xf32>) -> (tensor<4x3x2xf32>, tensor<2x3x4xf32>) {
  %a = cuvil_tensor.transpose %x input_order = [1, 2, 0] : tensor<2x3x4xf32> -> tensor<3x4x2xf32>
  %b = cuvil_tensor.transpose %a input_order = [1, 0, 2] : tensor<3x4x2xf32> -> tensor<4x3x2xf32>
  %d = cuvil_tensor.transpose %a input_order = [2, 0, 1] : tensor<3x4x2xf32> -> tensor<2x3x4xf32>
  func.return %b, %d : tensor<4x3x2xf32>, tensor<2x3x4xf32>
}
