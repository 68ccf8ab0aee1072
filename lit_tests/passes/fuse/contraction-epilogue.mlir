// RUN: cuvil-opt %s -p fuse | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 1e-6 --pipeline fuse
// RUN: cuvil-run %s --random --no-print --compare --engine native
// Bias, activation and residual go into the contraction's store.
// CHECK: family = contraction access = <contraction, contraction, broadcast, streaming>
// CHECK-NOT: cuvil_fused.kernel
func.func @main(%x: tensor<4x16xf32>, %w: tensor<16x8xf32>, %b: tensor<8xf32>, %r: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %1 = cuvil_tensor.contract %x, %w lhs_batch = [] rhs_batch = [] lhs_contract = [1] rhs_contract = [0] : tensor<4x16xf32>, tensor<16x8xf32> -> tensor<4x8xf32>
  %2 = cuvil_tensor.broadcast %b axes = [1] : tensor<8xf32> -> tensor<4x8xf32>
  %3 = cuvil_tensor.binary add %1, %2 : tensor<4x8xf32>
  %4 = cuvil_tensor.unary relu %3 : tensor<4x8xf32>
  %5 = cuvil_tensor.binary add %r, %4 : tensor<4x8xf32>
  func.return %5 : tensor<4x8xf32>
}
