// RUN: cuvil-opt %s -p pack-weights --verify-diagnostics
// Kernels on buffers come too late.

func.func @on_buffers(%x: memref<4x8xf32>, %w: memref<8x4xf32>, %o: memref<4x4xf32>) {
  // expected-error @+1 {{pack-weights: the kernel is on buffers already; run pack-weights before bufferize}}
  cuvil_fused.kernel @matmul(%a = %x, %b = %w) into(%o) family = contraction access = <contraction, contraction>
    : (memref<4x8xf32>, memref<8x4xf32>) into (memref<4x4xf32>) {
    %1 = cuvil_tensor.contract %a, %b lhs_batch = [] rhs_batch = [] lhs_contract = [1] rhs_contract = [0] : tensor<4x8xf32>, tensor<8x4xf32> -> tensor<4x4xf32>
    cuvil_fused.yield %1 : tensor<4x4xf32>
  }
  func.return
}
