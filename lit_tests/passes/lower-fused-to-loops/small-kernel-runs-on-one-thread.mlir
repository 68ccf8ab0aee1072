// RUN: cuvil-opt %s -p 'fuse,pack-weights{target=x86-64-v4},bufferize,plan-memory,lower-fused-to-loops{target=x86-64-v4 threads=2}' | filecheck %s
// RUN: cuvil-run %s --random --pipeline cpu --compare --no-print | filecheck %s --check-prefix=SAME
// Entering a parallel region would cost more than the kernel.
// CHECK: func.func private @neg
// CHECK-NOT: scf.parallel
// SAME: comparison 0 agrees
func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = cuvil_tensor.unary neg %x : tensor<64xf32>
  func.return %0 : tensor<64xf32>
}
