// RUN: cuvil-opt %s -p canonicalize | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 0 --pipeline canonicalize
// neg (neg x), not (not x) => x.
// exp (exp x) stays.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %g = cuvil_tensor.unary tanh %x
// CHECK-NEXT: %h = cuvil_tensor.unary tanh %g
// CHECK-NEXT: func.return %x, %p, %h
func.func @main(%x: tensor<4x8xf32>, %p: tensor<4xi1>) -> (tensor<4x8xf32>, tensor<4xi1>, tensor<4x8xf32>) {
  %a = cuvil_tensor.unary neg %x : tensor<4x8xf32>
  %b = cuvil_tensor.unary neg %a : tensor<4x8xf32>
  %c = cuvil_tensor.unary not %p : tensor<4xi1>
  %d = cuvil_tensor.unary not %c : tensor<4xi1>
  %g = cuvil_tensor.unary tanh %x : tensor<4x8xf32>
  %h = cuvil_tensor.unary tanh %g : tensor<4x8xf32>
  func.return %b, %d, %h : tensor<4x8xf32>, tensor<4xi1>, tensor<4x8xf32>
}
