// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// What the verifier and the parser refuse.

func.func @f() {
  // expected-error @+1 {{cuvil_tensor.iota: axis: axis 1 is outside [0, 1)}}
  %0 = cuvil_tensor.iota axis = 1 : tensor<4xi64>
  func.return
}

// -----

func.func @f() {
  // expected-error @+1 {{cuvil_tensor.iota: positions are numbers, got element type i1}}
  %0 = cuvil_tensor.iota axis = 0 : tensor<4xi1>
  func.return
}
