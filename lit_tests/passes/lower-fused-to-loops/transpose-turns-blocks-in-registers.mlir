// RUN: cuvil-opt %s -p 'fuse,pack-weights{target=x86-64-v4},bufferize,plan-memory,lower-fused-to-loops{target=x86-64-v4 threads=1}' | filecheck %s
// RUN: cuvil-run %s --random --pipeline cpu --compare --no-print | filecheck %s --check-prefix=SAME
// Blocks of 16 x 16 are loaded along one dim, shuffled, stored along the other.
// CHECK: func.func private @transpose
// CHECK-COUNT-16: vector.load
// CHECK-COUNT-64: vector.shuffle
// CHECK-COUNT-16: vector.store
// SAME: comparison 0 agrees
func.func @main(%x: tensor<32x48xf32>) -> tensor<48x32xf32> {
  %0 = cuvil_tensor.transpose %x input_order = [1, 0] : tensor<32x48xf32> -> tensor<48x32xf32>
  func.return %0 : tensor<48x32xf32>
}
