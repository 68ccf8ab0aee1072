// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// What the verifier and the parser refuse.

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{cuvil_tensor.transpose: input_order: an axis is named twice in [0, 0]}}
  %0 = cuvil_tensor.transpose %x input_order = [0, 0] : tensor<2x3xf32> -> tensor<2x2xf32>
  func.return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{cuvil_tensor.transpose: input_order has 1 entries, expected 2}}
  %0 = cuvil_tensor.transpose %x input_order = [0] : tensor<2x3xf32> -> tensor<2xf32>
  func.return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{cuvil_tensor.transpose: result has type tensor<2x3xf32>, expected tensor<3x2xf32> by the shape rule}}
  %0 = cuvil_tensor.transpose %x input_order = [1, 0] : tensor<2x3xf32> -> tensor<2x3xf32>
  func.return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{cuvil_tensor.transpose: property 'input_order' expected in operation 'cuvil_tensor.transpose'}}
  %0 = cuvil_tensor.transpose %x : tensor<2x3xf32> -> tensor<3x2xf32>
  func.return
}
