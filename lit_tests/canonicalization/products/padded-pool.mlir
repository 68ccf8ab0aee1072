// RUN: cuvil-opt %s -p canonicalize | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 0 --pipeline canonicalize
// pool max (pad x with -inf), pool add (pad x with 0) => the pool pads.
// pool max (pad x with 0) stays.
// CHECK-LABEL: func.func @main
// CHECK: %b = cuvil_tensor.pool max %x
// CHECK-SAME: low = [1, 1] high = [0, 0]
// CHECK: %d = cuvil_tensor.pool max %c
func.func @main(%x: tensor<1x3x6x6xf32>) -> (tensor<1x3x6x6xf32>, tensor<1x3x6x6xf32>) {
  %i = cuvil_tensor.constant dense<0xFF800000> : tensor<f32>
  %z = cuvil_tensor.constant dense<0.0> : tensor<f32>
  %a = cuvil_tensor.pad %x, %i low = [0, 0, 1, 1] high = [0, 0, 0, 0] : tensor<1x3x6x6xf32>, tensor<f32> -> tensor<1x3x7x7xf32>
  %b = cuvil_tensor.pool max %a input_order = [0, 1, 2, 3] kernel = [2, 2] strides = [1, 1] low = [0, 0] high = [0, 0] dilation = [1, 1] : tensor<1x3x7x7xf32> -> tensor<1x3x6x6xf32>
  %c = cuvil_tensor.pad %x, %z low = [0, 0, 1, 1] high = [0, 0, 0, 0] : tensor<1x3x6x6xf32>, tensor<f32> -> tensor<1x3x7x7xf32>
  %d = cuvil_tensor.pool max %c input_order = [0, 1, 2, 3] kernel = [2, 2] strides = [1, 1] low = [0, 0] high = [0, 0] dilation = [1, 1] : tensor<1x3x7x7xf32> -> tensor<1x3x6x6xf32>
  func.return %b, %d : tensor<1x3x6x6xf32>, tensor<1x3x6x6xf32>
}
