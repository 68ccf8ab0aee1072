// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// What the verifier and the parser refuse.

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{cuvil_tensor.softmax: axes: axis 2 is outside [0, 2)}}
  %0 = cuvil_tensor.softmax %x axis = 2 : tensor<4x8xf32> -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xi32>) {
  // expected-error @+1 {{cuvil_tensor.softmax: needs a float element type, got i32}}
  %0 = cuvil_tensor.softmax %x axis = 1 : tensor<4x8xi32> -> tensor<4x8xi32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{cuvil_tensor.softmax: result has type tensor<4x8xf16>, expected tensor<4x8xf32> by the shape rule}}
  %0 = cuvil_tensor.softmax %x axis = 1 : tensor<4x8xf32> -> tensor<4x8xf16>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{cuvil_tensor.softmax: unknown attribute 'dim'; it takes axis}}
  %0 = cuvil_tensor.softmax %x dim = 1 : tensor<4x8xf32> -> tensor<4x8xf32>
  func.return
}
