// RUN: cuvil-opt %s --disable-verify --split-input-file --verify-diagnostics -p infer-shapes
// Operands that contradict the rule are an error at the op that reads them.

func.func @contract(%x: tensor<2x4xf32>, %w: tensor<8x3xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{pass 'infer-shapes' failed: cuvil_tensor.contract: contracted dims differ: lhs dim 1 is 4, rhs dim 0 is 8}}
  %0 = cuvil_tensor.contract %x, %w lhs_batch = [] rhs_batch = [] lhs_contract = [1] rhs_contract = [0] : tensor<2x4xf32>, tensor<8x3xf32> -> tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}

// -----

func.func @concat(%x: tensor<2x4xf32>, %y: tensor<2x?xf32, #cuvil_tensor.dims<2, "s0">>) -> tensor<4x4xf32> {
  // expected-error @+1 {{pass 'infer-shapes' failed: cuvil_tensor.concat: operand 1 has dim 1 = s0, operand 0 has 4}}
  %0 = cuvil_tensor.concat %x, %y axis = 0 : tensor<2x4xf32>, tensor<2x?xf32, #cuvil_tensor.dims<2, "s0">> -> tensor<4x4xf32>
  func.return %0 : tensor<4x4xf32>
}
