// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// What the verifier and the parser refuse.

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{cuvil_tensor.slice: dim 1 reads element 8 of 8}}
  %0 = cuvil_tensor.slice %x starts = [0, 2] steps = [1, 3] : tensor<4x8xf32> -> tensor<4x3xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{cuvil_tensor.slice: dim 1 starts at 0 with step 0; starts are >= 0, steps >= 1}}
  %0 = cuvil_tensor.slice %x starts = [0, 0] steps = [1, 0] : tensor<4x8xf32> -> tensor<4x3xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{cuvil_tensor.slice: starts has 1 entries, expected 2}}
  %0 = cuvil_tensor.slice %x starts = [0] steps = [1, 1] : tensor<4x8xf32> -> tensor<4x3xf32>
  func.return
}
