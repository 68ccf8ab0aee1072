// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// What the verifier and the parser refuse.

func.func @f(%x: tensor<2x4xf32>, %y: tensor<2x3xf32>) {
  // expected-error @+1 {{cuvil_tensor.concat: operand 1 has dim 1 = 3, operand 0 has 4}}
  %0 = cuvil_tensor.concat %x, %y axis = 0 : tensor<2x4xf32>, tensor<2x3xf32> -> tensor<4x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<2x4xf32>, %y: tensor<4xf32>) {
  // expected-error @+1 {{cuvil_tensor.concat: operand 1 has rank 1, operand 0 has rank 2}}
  %0 = cuvil_tensor.concat %x, %y axis = 0 : tensor<2x4xf32>, tensor<4xf32> -> tensor<3x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<2x4xf32>, %y: tensor<2x4xf64>) {
  // expected-error @+1 {{cuvil_tensor.concat: operands differ in element type; cast first}}
  %0 = cuvil_tensor.concat %x, %y axis = 0 : tensor<2x4xf32>, tensor<2x4xf64> -> tensor<4x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{cuvil_tensor.concat: axis: axis 2 is outside [0, 2)}}
  %0 = cuvil_tensor.concat %x, %x axis = 2 : tensor<2x4xf32>, tensor<2x4xf32> -> tensor<4x4xf32>
  func.return
}
