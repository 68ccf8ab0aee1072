// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// What the verifier and the parser refuse.

func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{cuvil_tensor.broadcast: source dim 0 is 8, result dim 0 is 4}}
  %0 = cuvil_tensor.broadcast %x axes = [0] : tensor<8xf32> -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<2x8xf32>) {
  // expected-error @+1 {{cuvil_tensor.broadcast: axes must increase, got [1, 0]; transpose first}}
  %0 = cuvil_tensor.broadcast %x axes = [1, 0] : tensor<2x8xf32> -> tensor<8x2xf32>
  func.return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{cuvil_tensor.broadcast: axes: axis 2 is outside [0, 2)}}
  %0 = cuvil_tensor.broadcast %x axes = [2] : tensor<8xf32> -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{cuvil_tensor.broadcast: axes has 0 entries, expected 1}}
  %0 = cuvil_tensor.broadcast %x axes = [] : tensor<8xf32> -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{cuvil_tensor.broadcast: unknown attribute 'axis'; did you mean 'axes'?}}
  %0 = cuvil_tensor.broadcast %x axis = [1] : tensor<8xf32> -> tensor<4x8xf32>
  func.return
}
