// RUN: cuvil-opt %s -p 'fuse,pack-weights{target=x86-64-v4},bufferize,plan-memory,lower-fused-to-loops{target=x86-64-v4 threads=1}' | filecheck %s
// RUN: cuvil-run %s --random --pipeline cpu --compare --no-print | filecheck %s --check-prefix=SAME
// Sums over the first dim: vectors along the last one, no reduction across lanes.
// CHECK: func.func private @reduce
// CHECK: vector.load
// CHECK-NOT: vector.reduction
// SAME: comparison 0 agrees
func.func @main(%x: tensor<7x64xf32>) -> tensor<64xf32> {
  %0 = cuvil_tensor.reduce add %x axes = [0] : tensor<7x64xf32> -> tensor<64xf32>
  func.return %0 : tensor<64xf32>
}
