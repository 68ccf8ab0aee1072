// RUN: cuvil-opt %s -p fuse | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 1e-6 --pipeline fuse
// RUN: cuvil-run %s --random --no-print --compare --engine native
// A transpose and reshape of a contraction's result is how it stores; what follows goes on behind them.
// CHECK: family = contraction
// CHECK: cuvil_tensor.transpose
// CHECK: cuvil_tensor.reshape
// CHECK: cuvil_tensor.unary relu
// CHECK-NOT: cuvil_fused.kernel
func.func @main(%x: tensor<4x16xf32>, %w: tensor<16x8xf32>) -> tensor<16x2xf32> {
  %1 = cuvil_tensor.contract %x, %w lhs_batch = [] rhs_batch = [] lhs_contract = [1] rhs_contract = [0] : tensor<4x16xf32>, tensor<16x8xf32> -> tensor<4x8xf32>
  %2 = cuvil_tensor.transpose %1 input_order = [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  %3 = cuvil_tensor.reshape %2 : tensor<8x4xf32> -> tensor<16x2xf32>
  %4 = cuvil_tensor.unary relu %3 : tensor<16x2xf32>
  func.return %4 : tensor<16x2xf32>
}
