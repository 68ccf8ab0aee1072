// RUN: cuvil-opt %s -p 'fuse,pack-weights{target=x86-64-v4},bufferize,plan-memory,lower-fused-to-loops{target=x86-64-v4 threads=1}' | filecheck %s
// RUN: cuvil-run %s --random --pipeline cpu --compare --no-print | filecheck %s --check-prefix=SAME
// Whatever its rank, a kernel that only streams is one loop of vectors.
// CHECK: func.func private @add_relu
// CHECK: scf.for
// CHECK: vector.load {{.*}} vector<16xf32>
// CHECK-NOT: scf.for
// CHECK: vector.store
// CHECK-NOT: scf.for
// SAME: comparison 0 agrees
func.func @main(%x: tensor<2x4x8xf32>, %y: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %0 = cuvil_tensor.binary add %x, %y : tensor<2x4x8xf32>
  %1 = cuvil_tensor.unary relu %0 : tensor<2x4x8xf32>
  func.return %1 : tensor<2x4x8xf32>
}
