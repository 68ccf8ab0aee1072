// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// What the verifier and the parser refuse.

func.func @f(%x: tensor<1x2x4xf32>, %m: tensor<4xf32>) {
  // expected-error @+1 {{cuvil_tensor.batch_norm: mean is 4, expected 2}}
  %0 = cuvil_tensor.batch_norm %x, %m, %m axis = 1 eps = 1.0e-05 : tensor<1x2x4xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<1x2x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x2x4xf32>, %m: tensor<2xf32>) {
  // expected-error @+1 {{cuvil_tensor.batch_norm: operand 'variance' is missing}}
  %0 = cuvil_tensor.batch_norm %x, %m axis = 1 eps = 1.0e-05 : tensor<1x2x4xf32>, tensor<2xf32> -> tensor<1x2x4xf32>
  func.return
}
