// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// What the verifier and the parser refuse.

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{cuvil_tensor.reduce: unknown kind 'mean'; it is one of add, mul, max, min, and, or, xor}}
  %0 = cuvil_tensor.reduce mean %x axes = [1] : tensor<4x8xf32> -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{cuvil_tensor.reduce: kind 'and' is not defined on f32}}
  %0 = cuvil_tensor.reduce and %x axes = [1] : tensor<4x8xf32> -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{cuvil_tensor.reduce: result has type tensor<4xf32>, expected tensor<4x1xf32> by the shape rule}}
  %0 = cuvil_tensor.reduce add %x axes = [1] keepdims : tensor<4x8xf32> -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{cuvil_tensor.reduce: axes: axis -1 is outside [0, 2)}}
  %0 = cuvil_tensor.reduce add %x axes = [-1] : tensor<4x8xf32> -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{cuvil_tensor.reduce: unknown attribute 'keepdim'; did you mean 'keepdims'?}}
  %0 = cuvil_tensor.reduce add %x axes = [1] keepdim : tensor<4x8xf32> -> tensor<4x1xf32>
  func.return
}
