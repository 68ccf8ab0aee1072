// RUN: cuvil-opt %s -p normalize,fuse | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 1e-6 --pipeline normalize,fuse
// RUN: cuvil-run %s --random --no-print --compare --engine native
// A cheap op read once through a concat is computed where it is read: the rotation is one kernel.
// CHECK: cuvil_fused.kernel
// CHECK: cuvil_tensor.unary neg
// CHECK: cuvil_tensor.concat
// CHECK-NOT: cuvil_fused.kernel
func.func @main(%x: tensor<4x16xf32>, %cos: tensor<4x16xf32>, %sin: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %1 = cuvil_tensor.rope %x, %cos, %sin : tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32> -> tensor<4x16xf32>
  func.return %1 : tensor<4x16xf32>
}
