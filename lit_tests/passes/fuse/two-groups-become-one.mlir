// RUN: cuvil-opt %s -p fuse | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 1e-6 --pipeline fuse
// RUN: cuvil-run %s --random --no-print --compare --engine native
// An op that reads two kernels of its shape makes them one.
// CHECK: cuvil_fused.kernel @{{exp_tanh|tanh_exp}}_add_0
// CHECK-NOT: cuvil_fused.kernel
func.func @main(%x: tensor<4x16xf32>, %y: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %1 = cuvil_tensor.unary tanh %x : tensor<4x16xf32>
  %2 = cuvil_tensor.unary exp %y : tensor<4x16xf32>
  %3 = cuvil_tensor.binary add %2, %1 : tensor<4x16xf32>
  func.return %3 : tensor<4x16xf32>
}
