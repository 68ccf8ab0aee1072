// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// What the verifier and the parser refuse.

func.func @f(%x: tensor<1x4x8xf32>) {
  // expected-error @+1 {{cuvil_tensor.pool: unknown kind 'mean'; it is one of max, min, add}}
  %0 = cuvil_tensor.pool mean %x input_order = [0, 1, 2] kernel = [2] strides = [1] low = [0] high = [0] dilation = [1] : tensor<1x4x8xf32> -> tensor<1x4x7xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x4x8xf32>) {
  // expected-error @+1 {{cuvil_tensor.pool: kernel sizes are >= 1, got [0]}}
  %0 = cuvil_tensor.pool max %x input_order = [0, 1, 2] kernel = [0] strides = [1] low = [0] high = [0] dilation = [1] : tensor<1x4x8xf32> -> tensor<1x4x9xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x4x8xf32>) {
  // expected-error @+1 {{cuvil_tensor.pool: result has type tensor<1x4x8xf32>, expected tensor<1x4x7xf32> by the shape rule}}
  %0 = cuvil_tensor.pool max %x input_order = [0, 1, 2] kernel = [2] strides = [1] low = [0] high = [0] dilation = [1] : tensor<1x4x8xf32> -> tensor<1x4x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{cuvil_tensor.pool: input has rank 2; it is 2 + spatial dims}}
  %0 = cuvil_tensor.pool max %x input_order = [0, 1] kernel = [2] strides = [1] low = [0] high = [0] dilation = [1] : tensor<4x8xf32> -> tensor<4x7xf32>
  func.return
}
