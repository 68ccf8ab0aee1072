// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// What the verifier and the parser refuse.

func.func @f(%t: tensor<9x8xf32>, %i: tensor<5xf32>) {
  // expected-error @+1 {{cuvil_tensor.gather: index 0 has element type f32, expected an integer}}
  %0 = cuvil_tensor.gather %t, %i axes = [0] : tensor<9x8xf32>, tensor<5xf32> -> tensor<5x8xf32>
  func.return
}

// -----

func.func @f(%t: tensor<9x8xf32>, %i: tensor<5xi64>) {
  // expected-error @+1 {{cuvil_tensor.gather: axes has 2 entries, expected 1}}
  %0 = cuvil_tensor.gather %t, %i axes = [0, 1] : tensor<9x8xf32>, tensor<5xi64> -> tensor<5xf32>
  func.return
}

// -----

func.func @f(%t: tensor<9x8xf32>, %i: tensor<5xi64>, %j: tensor<4xi64>) {
  // expected-error @+1 {{cuvil_tensor.gather: index 1 is 4, index 0 is 5; broadcast first}}
  %0 = cuvil_tensor.gather %t, %i, %j axes = [0, 1] : tensor<9x8xf32>, tensor<5xi64>, tensor<4xi64> -> tensor<5xf32>
  func.return
}

// -----

func.func @f(%t: tensor<9x8xf32>, %i: tensor<5xi64>) {
  // expected-error @+1 {{cuvil_tensor.gather: result has type tensor<8x5xf32>, expected tensor<5x8xf32> by the shape rule}}
  %0 = cuvil_tensor.gather %t, %i axes = [0] : tensor<9x8xf32>, tensor<5xi64> -> tensor<8x5xf32>
  func.return
}
