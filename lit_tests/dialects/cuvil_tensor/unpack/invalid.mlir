// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// What the verifier and the parser refuse.

func.func @f(%x: tensor<3x64x16xf32>) {
  // expected-error @+1 {{cuvil_tensor.unpack: input has type tensor<3x64x16xf32>, packing tensor<64x49xf32> gives tensor<4x64x16xf32>}}
  %0 = cuvil_tensor.unpack %x axes = [1] tiles = [16] input_order = [1, 0] : tensor<3x64x16xf32> -> tensor<64x49xf32>
  func.return
}
