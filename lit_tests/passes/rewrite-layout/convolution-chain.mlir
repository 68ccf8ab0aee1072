// RUN: cuvil-opt %s -p rewrite-layout | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --pipeline rewrite-layout
// One transpose on the way in, one on the way out; between them everything is channels-last, the bias too.
// CHECK: %[[X:.*]] = cuvil_tensor.transpose %x input_order = [0, 2, 3, 1]
// CHECK-NEXT: %[[C:.*]] = cuvil_tensor.convolution %[[X]], %w input_order = [0, 3, 1, 2]
// CHECK-NEXT: %[[B:.*]] = cuvil_tensor.broadcast %b axes = [3]
// CHECK-NEXT: %[[S:.*]] = cuvil_tensor.binary add %[[C]], %[[B]]
// CHECK-NEXT: %[[P:.*]] = cuvil_tensor.pool max %[[S]] input_order = [0, 3, 1, 2]
// CHECK-NEXT: %[[OUT:.*]] = cuvil_tensor.transpose %[[P]] input_order = [0, 3, 1, 2]
// CHECK-NEXT: %[[R:.*]] = cuvil_tensor.reduce add %[[P]] axes = [1, 2] : tensor<1x2x2x4xf32> -> tensor<1x4xf32>
// CHECK-NEXT: func.return %[[R]], %[[OUT]]
func.func @main(%x: tensor<1x3x4x4xf32>, %w: tensor<4x3x3x3xf32>, %b: tensor<4xf32>) -> (tensor<1x4xf32>, tensor<1x4x2x2xf32>) {
  %1 = cuvil_tensor.convolution %x, %w input_order = [0, 1, 2, 3] strides = [1, 1] low = [1, 1] high = [1, 1] dilation = [1, 1] input_dilation = [1, 1] groups = 1 : tensor<1x3x4x4xf32>, tensor<4x3x3x3xf32> -> tensor<1x4x4x4xf32>
  %2 = cuvil_tensor.broadcast %b axes = [1] : tensor<4xf32> -> tensor<1x4x4x4xf32>
  %3 = cuvil_tensor.binary add %1, %2 : tensor<1x4x4x4xf32>
  %4 = cuvil_tensor.pool max %3 input_order = [0, 1, 2, 3] kernel = [2, 2] strides = [2, 2] low = [0, 0] high = [0, 0] dilation = [1, 1] : tensor<1x4x4x4xf32> -> tensor<1x4x2x2xf32>
  %5 = cuvil_tensor.reduce add %4 axes = [2, 3] : tensor<1x4x2x2xf32> -> tensor<1x4xf32>
  func.return %5, %4 : tensor<1x4xf32>, tensor<1x4x2x2xf32>
}
