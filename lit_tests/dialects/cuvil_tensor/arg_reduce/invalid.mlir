// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// What the verifier and the parser refuse.

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{cuvil_tensor.arg_reduce: unknown kind 'add'; it is one of max, min}}
  %0 = cuvil_tensor.arg_reduce add %x axis = 1 : tensor<4x8xf32> -> tensor<4xi64>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{cuvil_tensor.arg_reduce: result has type tensor<4xi32>, expected tensor<4xi64> by the shape rule}}
  %0 = cuvil_tensor.arg_reduce max %x axis = 1 : tensor<4x8xf32> -> tensor<4xi32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{cuvil_tensor.arg_reduce: axes: axis 2 is outside [0, 2)}}
  %0 = cuvil_tensor.arg_reduce max %x axis = 2 : tensor<4x8xf32> -> tensor<4xi64>
  func.return
}
