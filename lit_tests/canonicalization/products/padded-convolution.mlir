// RUN: cuvil-opt %s -p canonicalize | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 0 --pipeline canonicalize
// convolution (pad x with 0 in space) => convolution that pads.
// Padding with another number, or of channels, stays.
// CHECK-LABEL: func.func @main
// CHECK: %b = cuvil_tensor.convolution %x, %w
// CHECK-SAME: low = [1, 1] high = [1, 1]
// CHECK: %d = cuvil_tensor.convolution %c, %w
// CHECK: %h = cuvil_tensor.convolution %g, %v
func.func @main(%x: tensor<1x3x6x6xf32>, %w: tensor<4x3x3x3xf32>, %v: tensor<4x4x3x3xf32>) -> (tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>, tensor<1x4x4x6xf32>) {
  %z = cuvil_tensor.constant dense<0.0> : tensor<f32>
  %o = cuvil_tensor.constant dense<1.0> : tensor<f32>
  %a = cuvil_tensor.pad %x, %z low = [0, 0, 1, 0] high = [0, 0, 1, 0] : tensor<1x3x6x6xf32>, tensor<f32> -> tensor<1x3x8x6xf32>
  %b = cuvil_tensor.convolution %a, %w input_order = [0, 1, 2, 3] strides = [1, 1] low = [0, 1] high = [0, 1] dilation = [1, 1] input_dilation = [1, 1] groups = 1 : tensor<1x3x8x6xf32>, tensor<4x3x3x3xf32> -> tensor<1x4x6x6xf32>
  %c = cuvil_tensor.pad %x, %o low = [0, 0, 1, 0] high = [0, 0, 1, 0] : tensor<1x3x6x6xf32>, tensor<f32> -> tensor<1x3x8x6xf32>
  %d = cuvil_tensor.convolution %c, %w input_order = [0, 1, 2, 3] strides = [1, 1] low = [0, 1] high = [0, 1] dilation = [1, 1] input_dilation = [1, 1] groups = 1 : tensor<1x3x8x6xf32>, tensor<4x3x3x3xf32> -> tensor<1x4x6x6xf32>
  %g = cuvil_tensor.pad %x, %z low = [0, 1, 0, 0] high = [0, 0, 0, 0] : tensor<1x3x6x6xf32>, tensor<f32> -> tensor<1x4x6x6xf32>
  %h = cuvil_tensor.convolution %g, %v input_order = [0, 1, 2, 3] strides = [1, 1] low = [0, 1] high = [0, 1] dilation = [1, 1] input_dilation = [1, 1] groups = 1 : tensor<1x4x6x6xf32>, tensor<4x4x3x3xf32> -> tensor<1x4x4x6xf32>
  func.return %b, %d, %h : tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>, tensor<1x4x4x6xf32>
}
