// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// What the verifier and the parser refuse.

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{cuvil_tensor.silu: unknown attribute 'approximate'; it takes none}}
  %0 = cuvil_tensor.silu %x approximate = tanh : tensor<4xf32> -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xi1>) {
  // expected-error @+1 {{cuvil_tensor.silu: needs a float element type, got i1}}
  %0 = cuvil_tensor.silu %x : tensor<4xi1> -> tensor<4xi1>
  func.return
}
