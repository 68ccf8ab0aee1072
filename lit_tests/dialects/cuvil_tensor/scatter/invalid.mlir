// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// What the verifier and the parser refuse.

func.func @f(%x: tensor<9x8xf32>, %u: tensor<5x8xf32>, %i: tensor<5xi64>) {
  // expected-error @+1 {{cuvil_tensor.scatter: unknown kind 'sub'; it is one of assign, add, mul, max, min}}
  %0 = cuvil_tensor.scatter sub %x, %u, %i axes = [0] : tensor<9x8xf32>, tensor<5x8xf32>, tensor<5xi64> -> tensor<9x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<9x8xf32>, %u: tensor<5x7xf32>, %i: tensor<5xi64>) {
  // expected-error @+1 {{cuvil_tensor.scatter: updates have type tensor<5x7xf32>, expected tensor<5x8xf32>}}
  %0 = cuvil_tensor.scatter add %x, %u, %i axes = [0] : tensor<9x8xf32>, tensor<5x7xf32>, tensor<5xi64> -> tensor<9x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<9x8xf32>, %u: tensor<5x8xf32>, %i: tensor<5xi1>) {
  // expected-error @+1 {{cuvil_tensor.scatter: index 0 has element type i1, expected an integer}}
  %0 = cuvil_tensor.scatter add %x, %u, %i axes = [0] : tensor<9x8xf32>, tensor<5x8xf32>, tensor<5xi1> -> tensor<9x8xf32>
  func.return
}
