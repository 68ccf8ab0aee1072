// RUN: cuvil-opt %s -p canonicalize | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 0 --pipeline canonicalize
// select with a known condition or equal arms => an arm; select (not c) => the arms swapped.
// With an unknown condition it stays.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %e = cuvil_tensor.ternary select %p, %y, %x
// CHECK-NEXT: func.return %x, %y, %x, %e
func.func @main(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %p: tensor<4x8xi1>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %t = cuvil_tensor.constant dense<true> : tensor<4x8xi1>
  %o = cuvil_tensor.constant dense<false> : tensor<4x8xi1>
  %a = cuvil_tensor.ternary select %t, %x, %y : tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>
  %b = cuvil_tensor.ternary select %o, %x, %y : tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>
  %c = cuvil_tensor.ternary select %p, %x, %x : tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>
  %d = cuvil_tensor.unary not %p : tensor<4x8xi1>
  %e = cuvil_tensor.ternary select %d, %x, %y : tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>
  func.return %a, %b, %c, %e : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}
