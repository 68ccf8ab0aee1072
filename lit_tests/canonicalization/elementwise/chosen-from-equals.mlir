// RUN: cuvil-opt %s -p canonicalize | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 0 --pipeline canonicalize
// max(x, x), min(x, x) => x.
// x - x stays: it is NaN where x is infinite.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %c = cuvil_tensor.binary sub %x, %x
// CHECK-NEXT: func.return %x, %x, %c
func.func @main(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %a = cuvil_tensor.binary max %x, %x : tensor<4x8xf32>
  %b = cuvil_tensor.binary min %x, %x : tensor<4x8xf32>
  %c = cuvil_tensor.binary sub %x, %x : tensor<4x8xf32>
  func.return %a, %b, %c : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}
