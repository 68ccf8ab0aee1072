// RUN: cuvil-opt %s -p 'fuse,pack-weights{target=x86-64-v4},bufferize,plan-memory,lower-fused-to-loops{target=x86-64-v4 threads=1}' | filecheck %s
// RUN: cuvil-run %s --random --pipeline cpu --compare --no-print | filecheck %s --check-prefix=SAME
// Heads and positions swap: whole lines move, nothing is turned and no lane is loaded for itself.
// CHECK: func.func private @transpose
// CHECK-NOT: vector.shuffle
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: vector.shuffle
// CHECK: vector.load
// SAME: comparison 0 agrees
func.func @main(%x: tensor<1x4x8x32xf32>) -> tensor<1x8x4x32xf32> {
  %0 = cuvil_tensor.transpose %x input_order = [0, 2, 1, 3] : tensor<1x4x8x32xf32> -> tensor<1x8x4x32xf32>
  func.return %0 : tensor<1x8x4x32xf32>
}
