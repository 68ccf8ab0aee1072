// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// What the verifier and the parser refuse.

// Nothing is broadcast.
func.func @f(%x: tensor<2x4xf32>, %y: tensor<4xf32>) {
  // expected-error @+1 {{cuvil_tensor.binary: operands differ in shape: 2x4, 4; broadcast first}}
  %0 = cuvil_tensor.binary add %x, %y : tensor<2x4xf32>, tensor<4xf32>
  func.return
}

// -----

// Element types never mix.
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error @+1 {{cuvil_tensor.binary: operands differ in element type: f32, f64; cast first}}
  %0 = cuvil_tensor.binary add %x, %y : tensor<4xf32>, tensor<4xf64>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{cuvil_tensor.binary: kind 'shl' is not defined on f32}}
  %0 = cuvil_tensor.binary shl %x, %x : tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{cuvil_tensor.binary: unknown kind 'ad'; did you mean 'and'?}}
  %0 = cuvil_tensor.binary ad %x, %x : tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{cuvil_tensor.binary: operand 'rhs' is missing}}
  %0 = cuvil_tensor.binary add %x : tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{cuvil_tensor.binary: result has type tensor<4xf32>, expected tensor<4xi1> by the shape rule}}
  %0 = "cuvil_tensor.binary"(%x, %x) <{kind = "lt"}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return
}
