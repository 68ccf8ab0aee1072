// RUN: cuvil-opt %s -p 'fuse,pack-weights{target=x86-64-v4},bufferize,plan-memory,lower-fused-to-loops{target=x86-64-v4 threads=1}' | filecheck %s
// RUN: cuvil-run %s --random --pipeline cpu --compare --no-print | filecheck %s --check-prefix=SAME
// A bias along the last dim: a loop over rows, vectors inside.
// CHECK: func.func private @add
// CHECK: scf.for
// CHECK: scf.for
// CHECK-COUNT-2: vector.load
// CHECK-NOT: vector.broadcast
// SAME: comparison 0 agrees
func.func @main(%x: tensor<4x32xf32>, %b: tensor<32xf32>) -> tensor<4x32xf32> {
  %0 = cuvil_tensor.broadcast %b axes = [1] : tensor<32xf32> -> tensor<4x32xf32>
  %1 = cuvil_tensor.binary add %x, %0 : tensor<4x32xf32>
  func.return %1 : tensor<4x32xf32>
}
