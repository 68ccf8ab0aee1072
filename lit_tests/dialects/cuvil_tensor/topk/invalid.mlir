// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// What the verifier and the parser refuse.

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{cuvil_tensor.topk: k is 5, the axis has 4 elements}}
  %0, %1 = cuvil_tensor.topk %x k = 5 axis = 0 : tensor<4xf32> -> (tensor<5xf32>, tensor<5xi64>)
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{cuvil_tensor.topk: result 0 has type tensor<3xf32>, expected tensor<2xf32> by the shape rule}}
  %0, %1 = cuvil_tensor.topk %x k = 2 axis = 0 : tensor<4xf32> -> (tensor<3xf32>, tensor<3xi64>)
  func.return
}
