// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// What the verifier and the parser refuse.

func.func @f(%p: tensor<4xi32>, %x: tensor<4xf32>) {
  // expected-error @+1 {{cuvil_tensor.ternary: select chooses by i1, got i32}}
  %0 = cuvil_tensor.ternary select %p, %x, %x : tensor<4xi32>, tensor<4xf32>, tensor<4xf32>
  func.return
}

// -----

func.func @f(%p: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xi32>) {
  // expected-error @+1 {{cuvil_tensor.ternary: operands differ in element type: f32, i32; cast first}}
  %0 = cuvil_tensor.ternary select %p, %x, %y : tensor<4xi1>, tensor<4xf32>, tensor<4xi32>
  func.return
}

// -----

func.func @f(%p: tensor<1xi1>, %x: tensor<4xf32>) {
  // expected-error @+1 {{cuvil_tensor.ternary: operands differ in shape: 1, 4, 4; broadcast first}}
  %0 = cuvil_tensor.ternary select %p, %x, %x : tensor<1xi1>, tensor<4xf32>, tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{cuvil_tensor.ternary: unknown kind 'mix'}}
  %0 = cuvil_tensor.ternary mix %x, %x, %x : tensor<4xf32>
  func.return
}
