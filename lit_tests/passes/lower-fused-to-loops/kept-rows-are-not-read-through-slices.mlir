// RUN: cuvil-run %s --random --engine native --pipeline normalize,fuse --compare --no-print
// A costly value of two stages is kept for the row, unless something reads it at other points than the loops' own.

func.func @main(%x: tensor<2x17xf32>) -> (tensor<2x17xf32>, tensor<f32>) {
  %0 = cuvil_tensor.unary sigmoid %x : tensor<2x17xf32>
  %1 = cuvil_tensor.slice %0 starts = [1, 0] steps = [2, 1] : tensor<2x17xf32> -> tensor<1x17xf32>
  %2 = cuvil_tensor.broadcast %1 axes = [0, 1] : tensor<1x17xf32> -> tensor<2x17xf32>
  %3 = cuvil_tensor.binary div %2, %x : tensor<2x17xf32>
  %4 = cuvil_tensor.reduce add %0 axes = [0, 1] : tensor<2x17xf32> -> tensor<f32>
  func.return %3, %4 : tensor<2x17xf32>, tensor<f32>
}
