// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// What the verifier and the parser refuse.

func.func @f(%x: tensor<64x40xf32>) {
  // expected-error @+1 {{cuvil_tensor.pack: tiles are >= 1, got 0}}
  %0 = cuvil_tensor.pack %x axes = [1] tiles = [0] input_order = [1, 0] : tensor<64x40xf32> -> tensor<3x64x16xf32>
  func.return
}

// -----

func.func @f(%x: tensor<64x40xf32>) {
  // expected-error @+1 {{cuvil_tensor.pack: tiles has 2 entries, expected 1}}
  %0 = cuvil_tensor.pack %x axes = [1] tiles = [16, 4] input_order = [1, 0] : tensor<64x40xf32> -> tensor<3x64x16xf32>
  func.return
}

// -----

func.func @f(%x: tensor<64x40xf32>) {
  // expected-error @+1 {{cuvil_tensor.pack: result has type tensor<64x3x16xf32>, expected tensor<3x64x16xf32> by the shape rule}}
  %0 = cuvil_tensor.pack %x axes = [1] tiles = [16] input_order = [1, 0] : tensor<64x40xf32> -> tensor<64x3x16xf32>
  func.return
}
