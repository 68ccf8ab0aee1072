// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// What the verifier and the parser refuse.

func.func @f(%x: tensor<1x3x8xf32>, %w: tensor<4x2x3xf32>) {
  // expected-error @+1 {{cuvil_tensor.convolution: input has 3 channels, weight takes 2 in each of 1 groups}}
  %0 = cuvil_tensor.convolution %x, %w input_order = [0, 1, 2] strides = [1] low = [0] high = [0] dilation = [1] input_dilation = [1] groups = 1 : tensor<1x3x8xf32>, tensor<4x2x3xf32> -> tensor<1x4x6xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x4x8xf32>, %w: tensor<3x2x3xf32>) {
  // expected-error @+1 {{cuvil_tensor.convolution: 3 output channels do not split into 2 groups}}
  %0 = cuvil_tensor.convolution %x, %w input_order = [0, 1, 2] strides = [1] low = [0] high = [0] dilation = [1] input_dilation = [1] groups = 2 : tensor<1x4x8xf32>, tensor<3x2x3xf32> -> tensor<1x3x6xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x3x8xf32>, %w: tensor<4x3x3xf32>) {
  // expected-error @+1 {{cuvil_tensor.convolution: strides and dilations are >= 1, got 0, 1, 1}}
  %0 = cuvil_tensor.convolution %x, %w input_order = [0, 1, 2] strides = [0] low = [0] high = [0] dilation = [1] input_dilation = [1] groups = 1 : tensor<1x3x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x6xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x3x8xf32>, %w: tensor<4x3x3xf32>) {
  // expected-error @+1 {{cuvil_tensor.convolution: result has type tensor<1x4x7xf32>, expected tensor<1x4x6xf32> by the shape rule}}
  %0 = cuvil_tensor.convolution %x, %w input_order = [0, 1, 2] strides = [1] low = [0] high = [0] dilation = [1] input_dilation = [1] groups = 1 : tensor<1x3x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x7xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x3x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error @+1 {{cuvil_tensor.convolution: input has rank 3, weight rank 4; both are 2 + spatial dims}}
  %0 = cuvil_tensor.convolution %x, %w input_order = [0, 1, 2] strides = [1] low = [0] high = [0] dilation = [1] input_dilation = [1] groups = 1 : tensor<1x3x8xf32>, tensor<4x3x3x3xf32> -> tensor<1x4x6xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x3x8xf32>, %w: tensor<4x3x3xf32>) {
  // expected-error @+1 {{cuvil_tensor.convolution: strides has 2 entries, expected 1}}
  %0 = cuvil_tensor.convolution %x, %w input_order = [0, 1, 2] strides = [1, 1] low = [0] high = [0] dilation = [1] input_dilation = [1] groups = 1 : tensor<1x3x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x6xf32>
  func.return
}
