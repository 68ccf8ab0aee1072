// RUN: cuvil-opt %s -p fuse | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 1e-6 --pipeline fuse
// RUN: cuvil-run %s --random --no-print --compare --engine native
// Each block by itself: a value that a branch reads is a kernel's result before it.
// CHECK: cuvil_fused.kernel @tanh_0
// CHECK: scf.if
// CHECK: cuvil_fused.kernel @exp_1
// CHECK: } else {
// CHECK: cuvil_fused.kernel @neg_2
func.func @main(%x: tensor<4x16xf32>, %c: tensor<i1>) -> tensor<4x16xf32> {
  %1 = cuvil_tensor.unary tanh %x : tensor<4x16xf32>
  %p = tensor.extract %c[] : tensor<i1>
  %r = scf.if %p -> (tensor<4x16xf32>) {
    %2 = cuvil_tensor.unary exp %1 : tensor<4x16xf32>
    scf.yield %2 : tensor<4x16xf32>
  } else {
    %3 = cuvil_tensor.unary neg %1 : tensor<4x16xf32>
    scf.yield %3 : tensor<4x16xf32>
  }
  func.return %r : tensor<4x16xf32>
}
