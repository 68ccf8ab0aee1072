// RUN: cuvil-opt %s -p canonicalize | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 0 --pipeline canonicalize
// constant + x => x + constant, where the function commutes.
// constant - x stays.
// CHECK-LABEL: func.func @main
// CHECK: %a = cuvil_tensor.binary add %x, %k
// CHECK-NEXT: %b = cuvil_tensor.binary sub %k, %x
func.func @main(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %k = cuvil_tensor.constant dense<3.0> : tensor<4x8xf32>
  %a = cuvil_tensor.binary add %k, %x : tensor<4x8xf32>
  %b = cuvil_tensor.binary sub %k, %x : tensor<4x8xf32>
  func.return %a, %b : tensor<4x8xf32>, tensor<4x8xf32>
}
