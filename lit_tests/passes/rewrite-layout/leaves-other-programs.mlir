// RUN: cuvil-opt %s -p rewrite-layout | filecheck %s
// Without convolutions and pools nothing moves; nor does what is channels-last already.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: cuvil_tensor.binary add %x, %x
// CHECK-LABEL: func.func @last
// CHECK-NEXT: cuvil_tensor.pool
// CHECK-NOT: cuvil_tensor.transpose
func.func @main(%x: tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32> {
  %1 = cuvil_tensor.binary add %x, %x : tensor<1x4x4x4xf32>
  func.return %1 : tensor<1x4x4x4xf32>
}
func.func @last(%x: tensor<1x4x4x4xf32>) -> tensor<1x3x3x4xf32> {
  %1 = cuvil_tensor.pool max %x input_order = [0, 3, 1, 2] kernel = [2, 2] strides = [1, 1] low = [0, 0] high = [0, 0] dilation = [1, 1] : tensor<1x4x4x4xf32> -> tensor<1x3x3x4xf32>
  func.return %1 : tensor<1x3x3x4xf32>
}
