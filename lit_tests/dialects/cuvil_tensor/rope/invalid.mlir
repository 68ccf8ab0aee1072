// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// What the verifier and the parser refuse.

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{cuvil_tensor.rope: the last dim must be even, got 2x3}}
  %0 = cuvil_tensor.rope %x, %x, %x : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x3xf32>
  func.return
}

// -----

func.func @f(%x: tensor<2x4xf32>, %c: tensor<4xf32>) {
  // expected-error @+1 {{cuvil_tensor.rope: cos is 4, expected 2x4}}
  %0 = cuvil_tensor.rope %x, %c, %c : tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<2x4xf32>
  func.return
}
