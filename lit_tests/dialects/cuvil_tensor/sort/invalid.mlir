// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// What the verifier and the parser refuse.

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{cuvil_tensor.sort: axis: axis 1 is outside [0, 1)}}
  %0, %1 = cuvil_tensor.sort %x axis = 1 : tensor<4xf32> -> (tensor<4xf32>, tensor<4xi64>)
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{cuvil_tensor.sort: result 1 has type tensor<4xi32>, expected tensor<4xi64> by the shape rule}}
  %0, %1 = cuvil_tensor.sort %x axis = 0 : tensor<4xf32> -> (tensor<4xf32>, tensor<4xi32>)
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{cuvil_tensor.sort: 2 results but 1 result types}}
  %0 = cuvil_tensor.sort %x axis = 0 : tensor<4xf32> -> tensor<4xf32>
  func.return
}
