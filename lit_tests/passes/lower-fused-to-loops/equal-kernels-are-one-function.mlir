// RUN: cuvil-opt %s -p 'fuse,pack-weights{target=x86-64-v4},bufferize,plan-memory,lower-fused-to-loops{target=x86-64-v4 threads=1}' | filecheck %s
// RUN: cuvil-run %s --random --pipeline cpu --compare --no-print | filecheck %s --check-prefix=SAME
// Kernels that differ in names only share a function.
// CHECK-COUNT-2: func.call @exp_0
// CHECK: func.func private @exp_0
// CHECK-NOT: func.func private
// SAME: comparison 0 agrees
// SAME: comparison 1 agrees
func.func @main(%x: tensor<16xf32>, %y: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  %0 = cuvil_tensor.unary exp %x : tensor<16xf32>
  %1 = cuvil_tensor.unary exp %y : tensor<16xf32>
  func.return %0, %1 : tensor<16xf32>, tensor<16xf32>
}
