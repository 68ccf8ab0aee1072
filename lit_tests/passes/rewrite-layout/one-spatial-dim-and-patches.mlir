// RUN: cuvil-opt %s -p rewrite-layout | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --pipeline rewrite-layout
// Any rank; a transpose of patches to [batch, patch, channel] is what the channels-last twin is: nothing is left of it.
// CHECK: %[[C:.*]] = cuvil_tensor.convolution %{{.*}}, %w input_order = [0, 2, 1]
// CHECK-NEXT: cuvil_tensor.unary relu %[[C]] : tensor<1x6x4xf32>
// CHECK-NOT: cuvil_tensor.transpose
// CHECK: func.return
func.func @main(%x: tensor<1x3x8xf32>, %w: tensor<4x3x3xf32>) -> tensor<1x6x4xf32> {
  %1 = cuvil_tensor.convolution %x, %w input_order = [0, 1, 2] strides = [1] low = [0] high = [0] dilation = [1] input_dilation = [1] groups = 1 : tensor<1x3x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x6xf32>
  %2 = cuvil_tensor.transpose %1 input_order = [0, 2, 1] : tensor<1x4x6xf32> -> tensor<1x6x4xf32>
  %3 = cuvil_tensor.unary relu %2 : tensor<1x6x4xf32>
  func.return %3 : tensor<1x6x4xf32>
}
