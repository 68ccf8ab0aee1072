// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// What the verifier and the parser refuse.

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{cuvil_tensor.scan: unknown kind 'sub'; it is one of add, mul, max, min}}
  %0 = cuvil_tensor.scan sub %x axis = 0 : tensor<4xf32> -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xi1>) {
  // expected-error @+1 {{cuvil_tensor.scan: kind 'add' is not defined on i1}}
  %0 = cuvil_tensor.scan add %x axis = 0 : tensor<4xi1> -> tensor<4xi1>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{cuvil_tensor.scan: axis: axis 1 is outside [0, 1)}}
  %0 = cuvil_tensor.scan add %x axis = 1 : tensor<4xf32> -> tensor<4xf32>
  func.return
}
