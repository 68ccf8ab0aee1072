// RUN: cuvil-opt %s -p fuse,pack-weights,hoist-parameters | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --engine native
// One weight for an embedding and two projections: packed once, and kept as it is for the embedding.
// CHECK: cuvil_tensor.global @w.pack :
// CHECK-NOT: cuvil_tensor.global
// CHECK: cuvil_tensor.parameter @w :
// CHECK-COUNT-2: cuvil_tensor.parameter @w.pack
cuvil_tensor.global @w : tensor<10x16xf32>
func.func @main(%i: tensor<4xi64>) -> (tensor<4x10xf32>, tensor<4x10xf32>) {
  %w = cuvil_tensor.parameter @w : tensor<10x16xf32>
  %x = cuvil_tensor.gather %w, %i axes = [0] : tensor<10x16xf32>, tensor<4xi64> -> tensor<4x16xf32>
  %1 = cuvil_tensor.contract %x, %w lhs_batch = [] rhs_batch = [] lhs_contract = [1] rhs_contract = [1] : tensor<4x16xf32>, tensor<10x16xf32> -> tensor<4x10xf32>
  %y = cuvil_tensor.unary tanh %x : tensor<4x16xf32>
  %2 = cuvil_tensor.contract %y, %w lhs_batch = [] rhs_batch = [] lhs_contract = [1] rhs_contract = [1] : tensor<4x16xf32>, tensor<10x16xf32> -> tensor<4x10xf32>
  func.return %1, %2 : tensor<4x10xf32>, tensor<4x10xf32>
}
