// RUN: cuvil-opt %s -p canonicalize | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 0 --pipeline canonicalize
// relu (relu x), abs (abs x), floor (floor x) => once; abs (neg x) => abs x; roundings of integers go.
// relu (abs x) stays.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %a = cuvil_tensor.unary relu %x
// CHECK-NEXT: %d = cuvil_tensor.unary abs %x
// CHECK-NEXT: %h = cuvil_tensor.unary relu %d
// CHECK-NEXT: func.return %a, %d, %i, %h
func.func @main(%x: tensor<4x8xf32>, %i: tensor<4xi32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xi32>, tensor<4x8xf32>) {
  %a = cuvil_tensor.unary relu %x : tensor<4x8xf32>
  %b = cuvil_tensor.unary relu %a : tensor<4x8xf32>
  %c = cuvil_tensor.unary neg %x : tensor<4x8xf32>
  %d = cuvil_tensor.unary abs %c : tensor<4x8xf32>
  %g = cuvil_tensor.unary floor %i : tensor<4xi32>
  %h = cuvil_tensor.unary relu %d : tensor<4x8xf32>
  func.return %b, %d, %g, %h : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xi32>, tensor<4x8xf32>
}
