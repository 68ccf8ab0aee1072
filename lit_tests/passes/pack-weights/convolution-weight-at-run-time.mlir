// RUN: cuvil-opt %s -p rewrite-layout,fuse,pack-weights | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --engine native
// A convolution's weight that comes in at run time is packed by a kernel of its own.
// CHECK: cuvil_fused.kernel @convolution_1_pack(
// CHECK: cuvil_fused.kernel @convolution_1(
// CHECK: cuvil_tensor.unpack
func.func @main(%x: tensor<1x3x4x4xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x4x4xf32> {
  %1 = cuvil_tensor.convolution %x, %w input_order = [0, 1, 2, 3] strides = [1, 1] low = [1, 1] high = [1, 1] dilation = [1, 1] input_dilation = [1, 1] groups = 1 : tensor<1x3x4x4xf32>, tensor<4x3x3x3xf32> -> tensor<1x4x4x4xf32>
  func.return %1 : tensor<1x4x4x4xf32>
}
