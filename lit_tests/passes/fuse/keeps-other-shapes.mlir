// RUN: cuvil-opt %s -p fuse | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 1e-6 --pipeline fuse
// RUN: cuvil-run %s --random --no-print --compare --engine native
// Loops of another shape are another kernel.
// CHECK-COUNT-2: cuvil_fused.kernel
// CHECK-NOT: cuvil_fused.kernel
func.func @main(%x: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %r = cuvil_tensor.slice %x starts = [0, 0] steps = [1, 1] : tensor<4x16xf32> -> tensor<1x16xf32>
  %1 = cuvil_tensor.unary tanh %r : tensor<1x16xf32>
  %2 = cuvil_tensor.broadcast %1 axes = [0, 1] : tensor<1x16xf32> -> tensor<4x16xf32>
  %3 = cuvil_tensor.binary add %x, %2 : tensor<4x16xf32>
  func.return %3 : tensor<4x16xf32>
}
