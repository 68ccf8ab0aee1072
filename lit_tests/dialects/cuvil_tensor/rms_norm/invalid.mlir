// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// What the verifier and the parser refuse.

func.func @f(%x: tensor<4x8xf32>, %w: tensor<8x1xf32>) {
  // expected-error @+1 {{cuvil_tensor.rms_norm: weight is 8x1, expected 8}}
  %0 = cuvil_tensor.rms_norm %x weight = %w axes = [1] eps = 1.0e-06 : tensor<4x8xf32>, tensor<8x1xf32> -> tensor<4x8xf32>
  func.return
}

// -----

// There is no bias.
func.func @f(%x: tensor<4x8xf32>, %w: tensor<8xf32>) {
  // expected-error @+1 {{cuvil_tensor.rms_norm: unknown attribute 'bias'; it takes axes, eps, weight}}
  %0 = cuvil_tensor.rms_norm %x bias = %w axes = [1] eps = 1.0e-06 : tensor<4x8xf32>, tensor<8xf32> -> tensor<4x8xf32>
  func.return
}
