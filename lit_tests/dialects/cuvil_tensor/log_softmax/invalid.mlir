// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// What the verifier and the parser refuse.

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{cuvil_tensor.log_softmax: axes: axis -1 is outside [0, 2)}}
  %0 = cuvil_tensor.log_softmax %x axis = -1 : tensor<4x8xf32> -> tensor<4x8xf32>
  func.return
}
