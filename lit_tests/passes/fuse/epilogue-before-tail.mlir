// RUN: cuvil-opt %s -p rewrite-layout,fuse | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 1e-6 --pipeline rewrite-layout,fuse
// RUN: cuvil-run %s --random --no-print --compare --engine native
// A bias is added before the transpose behind a pool, an activation after the reshape: each op at its own place.
// CHECK: family = pool access = <window, broadcast>
// CHECK-NOT: cuvil_fused.kernel
func.func @main(%x: tensor<2x4x6x7xf32>, %b: tensor<4xf32>) -> tensor<128x1xf32> {
  %1 = cuvil_tensor.pool max %x input_order = [0, 1, 2, 3] kernel = [2, 2] strides = [2, 2] low = [1, 1] high = [1, 1] dilation = [1, 1] : tensor<2x4x6x7xf32> -> tensor<2x4x4x4xf32>
  %2 = cuvil_tensor.broadcast %b axes = [3] : tensor<4xf32> -> tensor<2x4x4x4xf32>
  %3 = cuvil_tensor.binary add %1, %2 : tensor<2x4x4x4xf32>
  %4 = cuvil_tensor.reshape %3 : tensor<2x4x4x4xf32> -> tensor<128x1xf32>
  %5 = cuvil_tensor.unary tanh %4 : tensor<128x1xf32>
  func.return %5 : tensor<128x1xf32>
}
