// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// What the verifier and the parser refuse.

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{cuvil_tensor.cast: result has type tensor<5xf32>, expected tensor<4xf32> by the shape rule}}
  %0 = cuvil_tensor.cast %x : tensor<4xf32> -> tensor<5xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{cuvil_tensor.cast: element type complex<f32> is not a number or bool}}
  %0 = cuvil_tensor.cast %x : tensor<4xf32> -> tensor<4xcomplex<f32>>
  func.return
}
