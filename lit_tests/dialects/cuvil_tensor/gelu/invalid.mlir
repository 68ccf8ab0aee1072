// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// What the verifier and the parser refuse.

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{cuvil_tensor.gelu: approximate is 'erf' or 'tanh', got 'none'}}
  %0 = cuvil_tensor.gelu %x approximate = none : tensor<4xf32> -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error @+1 {{cuvil_tensor.gelu: needs a float element type, got i32}}
  %0 = cuvil_tensor.gelu %x approximate = erf : tensor<4xi32> -> tensor<4xi32>
  func.return
}
