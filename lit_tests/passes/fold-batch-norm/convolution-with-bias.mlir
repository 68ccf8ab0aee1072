// RUN: cuvil-opt %s -p fold-batch-norm | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --pipeline fold-batch-norm
// A bias between convolution and norm is scaled along, whichever side it is added on; the result is a convolution and one sum.
// CHECK: %[[SCALE:.*]] = cuvil_tensor.binary mul %g
// CHECK: cuvil_tensor.binary sub %mean, %b
// CHECK: %[[WEIGHT:.*]] = cuvil_tensor.binary mul %w
// CHECK: %[[SUM:.*]] = cuvil_tensor.convolution %x, %[[WEIGHT]]
// CHECK: cuvil_tensor.binary add %[[SUM]]
// CHECK-NOT: cuvil_tensor.batch_norm
cuvil_tensor.global @w : tensor<4x3x3x3xf32>
cuvil_tensor.global @b : tensor<4xf32>
cuvil_tensor.global @g : tensor<4xf32>
cuvil_tensor.global @mean : tensor<4xf32>
cuvil_tensor.global @variance : tensor<4xf32>
func.func @main(%x: tensor<1x3x4x4xf32>) -> tensor<1x4x4x4xf32> {
  %w = cuvil_tensor.parameter @w : tensor<4x3x3x3xf32>
  %b = cuvil_tensor.parameter @b : tensor<4xf32>
  %g = cuvil_tensor.parameter @g : tensor<4xf32>
  %mean = cuvil_tensor.parameter @mean : tensor<4xf32>
  %variance = cuvil_tensor.parameter @variance : tensor<4xf32>
  %1 = cuvil_tensor.convolution %x, %w input_order = [0, 1, 2, 3] strides = [1, 1] low = [1, 1] high = [1, 1] dilation = [1, 1] input_dilation = [1, 1] groups = 1 : tensor<1x3x4x4xf32>, tensor<4x3x3x3xf32> -> tensor<1x4x4x4xf32>
  %s = cuvil_tensor.broadcast %b axes = [1] : tensor<4xf32> -> tensor<1x4x4x4xf32>
  %2 = cuvil_tensor.binary add %s, %1 : tensor<1x4x4x4xf32>
  %3 = cuvil_tensor.batch_norm %2, %mean, %variance weight = %g axis = 1 eps = 1.0e-05
    : tensor<1x4x4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<1x4x4x4xf32>
  func.return %3 : tensor<1x4x4x4xf32>
}
