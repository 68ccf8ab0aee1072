// RUN: cuvil-opt %s -p fuse | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 1e-6 --pipeline fuse
// RUN: cuvil-run %s --random --no-print --compare --engine native
// An op does not join a kernel that another operand of it depends on.
// CHECK-COUNT-3: cuvil_fused.kernel
func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %1 = cuvil_tensor.unary tanh %x : tensor<8x8xf32>
  %2 = cuvil_tensor.contract %1, %1 lhs_batch = [] rhs_batch = [] lhs_contract = [1] rhs_contract = [0] : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %3, %i = cuvil_tensor.sort %2 axis = 1 : tensor<8x8xf32> -> (tensor<8x8xf32>, tensor<8x8xi64>)
  %4 = cuvil_tensor.binary add %1, %3 : tensor<8x8xf32>
  func.return %4 : tensor<8x8xf32>
}
