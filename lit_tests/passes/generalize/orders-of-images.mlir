// RUN: cuvil-opt %s -p generalize | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --pipeline generalize
// RUN: cuvil-run %s --random --no-print --compare --engine native
// Dims in an order that is neither channels-first nor channels-last are put channels-first; channels-last stays.
// CHECK: %[[X:.*]] = cuvil_tensor.transpose %x input_order = [1, 0, 2, 3]
// CHECK-NEXT: %[[Y:.*]] = cuvil_tensor.pool max %[[X]] input_order = [0, 1, 2, 3]
// CHECK-NEXT: cuvil_tensor.transpose %[[Y]] input_order = [1, 0, 2, 3]
// CHECK-NEXT: cuvil_tensor.pool max %x input_order = [0, 3, 1, 2]
func.func @main(%x: tensor<3x2x4x4xf32>) -> (tensor<3x2x3x3xf32>, tensor<3x1x3x4xf32>) {
  %1 = cuvil_tensor.pool max %x input_order = [1, 0, 2, 3] kernel = [2, 2] strides = [1, 1] low = [0, 0] high = [0, 0] dilation = [1, 1] : tensor<3x2x4x4xf32> -> tensor<3x2x3x3xf32>
  %2 = cuvil_tensor.pool max %x input_order = [0, 3, 1, 2] kernel = [2, 2] strides = [1, 1] low = [0, 0] high = [0, 0] dilation = [1, 1] : tensor<3x2x4x4xf32> -> tensor<3x1x3x4xf32>
  func.return %1, %2 : tensor<3x2x3x3xf32>, tensor<3x1x3x4xf32>
}
