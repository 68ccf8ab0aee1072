// RUN: cuvil-opt %s -p fuse --remarks-filter=missed --verify-diagnostics
// What is not fused is said at the op concerned.
func.func @main(%x: tensor<4x16xf32>, %w: tensor<16x16xf32>) -> (tensor<4x16xf32>, tensor<4xf32>, tensor<4x16xf32>) {
  %1 = cuvil_tensor.contract %x, %w lhs_batch = [] rhs_batch = [] lhs_contract = [1] rhs_contract = [0] : tensor<4x16xf32>, tensor<16x16xf32> -> tensor<4x16xf32>
  // expected-remark @+1 {{cuvil_tensor.reduce not fused into its contraction producer: a reduction cannot live in a contraction's epilogue}}
  %2 = cuvil_tensor.reduce add %1 axes = [1] : tensor<4x16xf32> -> tensor<4xf32>
  %3 = cuvil_tensor.slice %1 starts = [0, 0] steps = [1, 1] : tensor<4x16xf32> -> tensor<1x16xf32>
  %4 = cuvil_tensor.broadcast %3 axes = [0, 1] : tensor<1x16xf32> -> tensor<4x16xf32>
  // expected-remark @+1 {{cuvil_tensor.binary not fused into its contraction producer: the op reads other elements of the contraction's result than its own}}
  %5 = cuvil_tensor.binary add %1, %4 : tensor<4x16xf32>
  func.return %1, %2, %5 : tensor<4x16xf32>, tensor<4xf32>, tensor<4x16xf32>
}
