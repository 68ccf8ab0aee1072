// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// What the verifier and the parser refuse.

func.func @f(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{cuvil_tensor.reverse: axes: axis 2 is outside [0, 2)}}
  %0 = cuvil_tensor.reverse %x axes = [2] : tensor<2x4xf32> -> tensor<2x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{cuvil_tensor.reverse: axes: an axis is named twice in [1, 1]}}
  %0 = cuvil_tensor.reverse %x axes = [1, 1] : tensor<2x4xf32> -> tensor<2x4xf32>
  func.return
}
