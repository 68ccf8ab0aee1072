// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// What the verifier and the parser refuse.

func.func @f(%x: tensor<4x8xf32>, %v: tensor<1xf32>) {
  // expected-error @+1 {{cuvil_tensor.pad: the fill value has type tensor<1xf32>, expected tensor<f32>}}
  %0 = cuvil_tensor.pad %x, %v low = [0, 1] high = [0, 2] : tensor<4x8xf32>, tensor<1xf32> -> tensor<4x11xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{cuvil_tensor.pad: dim 1 would have -1 elements}}
  %0 = cuvil_tensor.pad %x, %v low = [0, -5] high = [0, -4] : tensor<4x8xf32>, tensor<f32> -> tensor<4x0xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{cuvil_tensor.pad: low has 1 entries, expected 2}}
  %0 = cuvil_tensor.pad %x, %v low = [1] high = [0, 0] : tensor<4x8xf32>, tensor<f32> -> tensor<4x8xf32>
  func.return
}
