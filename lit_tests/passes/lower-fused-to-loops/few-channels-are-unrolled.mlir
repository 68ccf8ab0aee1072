// RUN: cuvil-opt %s -p 'fuse,pack-weights{target=x86-64-v4},bufferize,plan-memory,lower-fused-to-loops{target=x86-64-v4 threads=1}' | filecheck %s
// RUN: cuvil-run %s --random --pipeline cpu --compare --no-print | filecheck %s --check-prefix=SAME
// Three channels to the end: the pixels are the loop, the channels three scalar moves without division.
// CHECK: func.func private @transpose
// CHECK: scf.for
// CHECK-NOT: arith.remui
// CHECK-COUNT-3: memref.store
// CHECK-NOT: memref.store
// SAME: comparison 0 agrees
func.func @main(%x: tensor<1x3x8x8xf32>) -> tensor<1x8x8x3xf32> {
  %0 = cuvil_tensor.transpose %x input_order = [0, 2, 3, 1] : tensor<1x3x8x8xf32> -> tensor<1x8x8x3xf32>
  func.return %0 : tensor<1x8x8x3xf32>
}
