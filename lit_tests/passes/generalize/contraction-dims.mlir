// RUN: cuvil-opt %s -p generalize | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --pipeline generalize
// RUN: cuvil-run %s --random --no-print --compare --engine native
// Summed dims with another dim between them have no one stride: the operand is transposed. Batch dims do not end the right
// operand. In order already, an operand stays as it is.
// CHECK: %[[A:.*]] = cuvil_tensor.transpose %x input_order = [1, 0, 2]
// CHECK-NEXT: cuvil_tensor.contract %[[A]], %w lhs_batch = [] rhs_batch = [] lhs_contract = [1, 2] rhs_contract = [0, 1]
// CHECK: %[[B:.*]] = cuvil_tensor.transpose %y input_order = [2, 1, 0]
// CHECK-NEXT: cuvil_tensor.contract %y, %[[B]] lhs_batch = [2] rhs_batch = [0]
// CHECK-NEXT: cuvil_tensor.contract %w, %w
func.func @main(%x: tensor<2x3x4xf32>, %w: tensor<2x4x5xf32>, %y: tensor<3x4x2xf32>) -> (tensor<3x5xf32>, tensor<2x4x4xf32>, tensor<5x5xf32>) {
  %1 = cuvil_tensor.contract %x, %w lhs_batch = [] rhs_batch = [] lhs_contract = [0, 2] rhs_contract = [0, 1] : tensor<2x3x4xf32>, tensor<2x4x5xf32> -> tensor<3x5xf32>
  %2 = cuvil_tensor.contract %y, %y lhs_batch = [2] rhs_batch = [2] lhs_contract = [0] rhs_contract = [0] : tensor<3x4x2xf32>, tensor<3x4x2xf32> -> tensor<2x4x4xf32>
  %3 = cuvil_tensor.contract %w, %w lhs_batch = [] rhs_batch = [] lhs_contract = [0, 1] rhs_contract = [0, 1] : tensor<2x4x5xf32>, tensor<2x4x5xf32> -> tensor<5x5xf32>
  func.return %1, %2, %3 : tensor<3x5xf32>, tensor<2x4x4xf32>, tensor<5x5xf32>
}
