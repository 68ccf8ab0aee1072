// RUN: cuvil-opt %s -p 'fuse{max-ops=2}' | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 1e-6 --pipeline 'fuse{max-ops=2}'
// RUN: cuvil-run %s --random --no-print --compare --engine native
// A kernel takes max-ops ops; the rest is another one.
// CHECK-COUNT-2: cuvil_fused.kernel
// CHECK-NOT: cuvil_fused.kernel
func.func @main(%x: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %1 = cuvil_tensor.unary tanh %x : tensor<4x16xf32>
  %2 = cuvil_tensor.unary neg %1 : tensor<4x16xf32>
  %3 = cuvil_tensor.unary exp %2 : tensor<4x16xf32>
  func.return %3 : tensor<4x16xf32>
}
