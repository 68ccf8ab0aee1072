// RUN: cuvil-opt %s -p 'fuse,pack-weights{target=x86-64-v4},hoist-parameters,bufferize,plan-memory,lower-fused-to-loops{target=x86-64-v4 threads=1}' | filecheck %s
// RUN: cuvil-run %s --random --pipeline cpu --compare --no-print | filecheck %s --check-prefix=SAME
// The kernel takes the packed weight, a flat buffer.
// CHECK: "memref.global"() <{sym_name = "w.pack"
// CHECK: func.func private @convolution
// CHECK: vector.fma
// SAME: comparison 0 agrees
cuvil_tensor.global @w : tensor<16x4x3x3xf32>
func.func @main(%x: tensor<1x8x8x4xf32>) -> tensor<1x8x8x16xf32> {
  %w = cuvil_tensor.parameter @w : tensor<16x4x3x3xf32>
  %0 = cuvil_tensor.convolution %x, %w input_order = [0, 3, 1, 2] strides = [1, 1] low = [1, 1] high = [1, 1] dilation = [1, 1] input_dilation = [1, 1] groups = 1 : tensor<1x8x8x4xf32>, tensor<16x4x3x3xf32> -> tensor<1x8x8x16xf32>
  func.return %0 : tensor<1x8x8x16xf32>
}
