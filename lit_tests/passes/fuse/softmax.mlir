// RUN: cuvil-opt %s -p normalize,fuse | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 1e-6 --pipeline normalize,fuse
// RUN: cuvil-run %s --random --no-print --compare --engine native
// Reductions over rows and what reads them row by row are one kernel.
// CHECK: family = loop access = <reduction>
// CHECK-COUNT-2: cuvil_tensor.reduce
// CHECK-NOT: cuvil_fused.kernel
func.func @main(%x: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %1 = cuvil_tensor.softmax %x axis = 1 : tensor<4x16xf32> -> tensor<4x16xf32>
  func.return %1 : tensor<4x16xf32>
}
