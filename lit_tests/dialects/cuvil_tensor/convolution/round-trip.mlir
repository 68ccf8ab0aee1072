// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// Cross-correlation over spatial dims. Every form prints as it was written; the generic form is checked too.

// CHECK-LABEL: func.func @forms
func.func @forms(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>, %y: tensor<1x8x8x4xf32>, %v: tensor<4x1x3x3xf32>) {
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.convolution %{{.*}}, %{{.*}} input_order = [0, 1, 2, 3] strides = [2, 2] low = [1, 1] high = [1, 1] dilation = [1, 1] input_dilation = [1, 1] groups = 1 : tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32> -> tensor<1x4x4x4xf32>
  %0 = cuvil_tensor.convolution %x, %w input_order = [0, 1, 2, 3] strides = [2, 2] low = [1, 1] high = [1, 1] dilation = [1, 1] input_dilation = [1, 1] groups = 1 : tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32> -> tensor<1x4x4x4xf32>
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.convolution %{{.*}}, %{{.*}} input_order = [0, 3, 1, 2] strides = [1, 1] low = [0, 0] high = [0, 0] dilation = [1, 1] input_dilation = [1, 1] groups = 4 : tensor<1x8x8x4xf32>, tensor<4x1x3x3xf32> -> tensor<1x6x6x4xf32>
  %1 = cuvil_tensor.convolution %y, %v input_order = [0, 3, 1, 2] strides = [1, 1] low = [0, 0] high = [0, 0] dilation = [1, 1] input_dilation = [1, 1] groups = 4 : tensor<1x8x8x4xf32>, tensor<4x1x3x3xf32> -> tensor<1x6x6x4xf32>
  func.return
}
