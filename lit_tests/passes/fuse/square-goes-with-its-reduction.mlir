// RUN: cuvil-opt %s -p fuse | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 1e-6 --pipeline fuse
// RUN: cuvil-run %s --random --no-print --compare --engine native
// A square that a reduction alone reads is not stored by the contraction before, whose result is stored anyway.
// CHECK: family = contraction
// CHECK: cuvil_fused.yield %{{[0-9]+}} :
// CHECK: cuvil_fused.kernel @mul_reduce
// CHECK-NOT: cuvil_fused.kernel
func.func @main(%x: tensor<4x16xf32>, %w: tensor<16x8xf32>) -> tensor<4x8xf32> {
  %1 = cuvil_tensor.contract %x, %w lhs_batch = [] rhs_batch = [] lhs_contract = [1] rhs_contract = [0] : tensor<4x16xf32>, tensor<16x8xf32> -> tensor<4x8xf32>
  %2 = cuvil_tensor.binary mul %1, %1 : tensor<4x8xf32>
  %3 = cuvil_tensor.reduce add %2 axes = [1] : tensor<4x8xf32> -> tensor<4xf32>
  %4 = cuvil_tensor.broadcast %3 axes = [0] : tensor<4xf32> -> tensor<4x8xf32>
  %5 = cuvil_tensor.binary mul %1, %4 : tensor<4x8xf32>
  func.return %5 : tensor<4x8xf32>
}
