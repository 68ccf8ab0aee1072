// RUN: cuvil-opt %s -p normalize,fuse | filecheck %s
// RUN: cuvil-run %s --random --pipeline cpu --compare --no-print
// The example of README.md: linear, gelu and softmax become two kernels.
// CHECK: cuvil_fused.kernel
// CHECK-NOT: cuvil_tensor.linear

cuvil_tensor.global @weight : tensor<10x64xf32>

func.func @main(%x: tensor<4x64xf32>) -> tensor<4x10xf32> {
  %w = cuvil_tensor.parameter @weight : tensor<10x64xf32>
  %0 = cuvil_tensor.linear %x, %w : tensor<4x64xf32>, tensor<10x64xf32> -> tensor<4x10xf32>
  %1 = cuvil_tensor.gelu %0 approximate = erf : tensor<4x10xf32> -> tensor<4x10xf32>
  %2 = cuvil_tensor.softmax %1 axis = 1 : tensor<4x10xf32> -> tensor<4x10xf32>
  func.return %2 : tensor<4x10xf32>
}
