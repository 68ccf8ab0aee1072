// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// What the verifier and the parser refuse.

func.func @f(%x: tensor<4x8xf32>, %w: tensor<4xf32>) {
  // expected-error @+1 {{cuvil_tensor.layer_norm: weight is 4, expected 8}}
  %0 = cuvil_tensor.layer_norm %x weight = %w axes = [1] eps = 1.0e-05 : tensor<4x8xf32>, tensor<4xf32> -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{cuvil_tensor.layer_norm: axes: axis 2 is outside [0, 2)}}
  %0 = cuvil_tensor.layer_norm %x axes = [2] eps = 1.0e-05 : tensor<4x8xf32> -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %w: tensor<8xf16>) {
  // expected-error @+1 {{cuvil_tensor.layer_norm: operands differ in element type: f32, f16; cast first}}
  %0 = cuvil_tensor.layer_norm %x weight = %w axes = [1] eps = 1.0e-05 : tensor<4x8xf32>, tensor<8xf16> -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{cuvil_tensor.layer_norm: property 'eps' expected in operation 'cuvil_tensor.layer_norm'}}
  %0 = cuvil_tensor.layer_norm %x axes = [1] : tensor<4x8xf32> -> tensor<4x8xf32>
  func.return
}
