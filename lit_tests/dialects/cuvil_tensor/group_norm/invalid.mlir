// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// What the verifier and the parser refuse.

func.func @f(%x: tensor<1x4x8xf32>) {
  // expected-error @+1 {{cuvil_tensor.group_norm: 4 channels do not split into 3 groups}}
  %0 = cuvil_tensor.group_norm %x groups = 3 eps = 1.0e-05 : tensor<1x4x8xf32> -> tensor<1x4x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{cuvil_tensor.group_norm: needs [N, C, ...], got 4}}
  %0 = cuvil_tensor.group_norm %x groups = 1 eps = 1.0e-05 : tensor<4xf32> -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x4x8xf32>, %w: tensor<8xf32>) {
  // expected-error @+1 {{cuvil_tensor.group_norm: weight is 8, expected 4}}
  %0 = cuvil_tensor.group_norm %x weight = %w groups = 2 eps = 1.0e-05 : tensor<1x4x8xf32>, tensor<8xf32> -> tensor<1x4x8xf32>
  func.return
}
