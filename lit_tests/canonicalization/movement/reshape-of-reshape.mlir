// RUN: cuvil-opt %s -p canonicalize | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 0 --pipeline canonicalize
// reshape (reshape x) => reshape x, or x.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %b = cuvil_tensor.reshape %x : tensor<4x8xf32> -> tensor<2x16xf32>
// CHECK-NEXT: func.return %b, %x
func.func @main(%x: tensor<4x8xf32>) -> (tensor<2x16xf32>, tensor<4x8xf32>) {
  %a = cuvil_tensor.reshape %x : tensor<4x8xf32> -> tensor<32xf32>
  %b = cuvil_tensor.reshape %a : tensor<32xf32> -> tensor<2x16xf32>
  %d = cuvil_tensor.reshape %b : tensor<2x16xf32> -> tensor<4x8xf32>
  func.return %b, %d : tensor<2x16xf32>, tensor<4x8xf32>
}
