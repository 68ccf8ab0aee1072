// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// What the verifier and the parser refuse.

func.func @f(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>) {
  // expected-error @+1 {{cuvil_tensor.linear: input 4x8 does not fit weight 8x16, [..., K] x [N, K]}}
  %0 = cuvil_tensor.linear %x, %w : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>, %b: tensor<8xf32>) {
  // expected-error @+1 {{cuvil_tensor.linear: bias is 8, expected 16}}
  %0 = cuvil_tensor.linear %x, %w bias = %b : tensor<4x8xf32>, tensor<16x8xf32>, tensor<8xf32> -> tensor<4x16xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %w: tensor<16x8xf64>) {
  // expected-error @+1 {{cuvil_tensor.linear: operands differ in element type: f32, f64}}
  %0 = cuvil_tensor.linear %x, %w : tensor<4x8xf32>, tensor<16x8xf64> -> tensor<4x16xf32>
  func.return
}
