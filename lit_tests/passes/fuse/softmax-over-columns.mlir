// RUN: cuvil-opt %s -p normalize,fuse | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 1e-6 --pipeline normalize,fuse
// RUN: cuvil-run %s --random --no-print --compare --engine native
// Over other axes than the last only reduced values leave a kernel: maximum, sum and quotient are three.
// CHECK: cuvil_fused.kernel @reduce_0
// CHECK: cuvil_fused.kernel
func.func @main(%x: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %1 = cuvil_tensor.softmax %x axis = 0 : tensor<4x16xf32> -> tensor<4x16xf32>
  func.return %1 : tensor<4x16xf32>
}
