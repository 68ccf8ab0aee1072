// RUN: cuvil-opt %s -p 'fuse,pack-weights{target=x86-64-v4},bufferize,plan-memory,lower-fused-to-loops{target=x86-64-v4 threads=1}' | filecheck %s
// RUN: cuvil-run %s --random --pipeline cpu --compare --no-print | filecheck %s --check-prefix=SAME
// An empty result needs no code.
// CHECK: func.func private @neg
// CHECK-NEXT: func.return
// SAME: comparison 0 agrees
func.func @main(%x: tensor<0x4xf32>) -> tensor<0x4xf32> {
  %0 = cuvil_tensor.unary neg %x : tensor<0x4xf32>
  func.return %0 : tensor<0x4xf32>
}
