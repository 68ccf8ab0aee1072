// RUN: cuvil-opt %s -p decompose | filecheck %s
// RUN: cuvil-run %s --random --pipeline decompose --compare --no-print --tolerance 0
// The weight is contracted along its second dim: nothing is transposed.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>, %b: tensor<16xf32>) -> tensor<4x16xf32> {
  %y = cuvil_tensor.linear %x, %w bias = %b : tensor<4x8xf32>, tensor<16x8xf32>, tensor<16xf32> -> tensor<4x16xf32>
  func.return %y : tensor<4x16xf32>
}
// CHECK-NEXT: [[V0:%.+]] = cuvil_tensor.contract %x, %w lhs_batch = [] rhs_batch = [] lhs_contract = [1] rhs_contract = [1]
// CHECK-NEXT: [[V1:%.+]] = cuvil_tensor.broadcast %b axes = [1]
// CHECK-NEXT: %y = cuvil_tensor.binary add [[V0]], [[V1]]
// CHECK-NEXT: func.return %y : tensor<4x16xf32>
