// RUN: cuvil-opt %s -p 'fuse,pack-weights{target=x86-64-v4},bufferize,plan-memory,lower-fused-to-loops{target=x86-64-v4 threads=2}' | filecheck %s
// RUN: cuvil-run %s --random --pipeline cpu --compare --no-print | filecheck %s --check-prefix=SAME
// The input is copied, then updates come in row-major order on one thread.
// CHECK: func.func private @scatter
// CHECK-NOT: scf.parallel
// CHECK: scf.for
// CHECK: scf.for
// CHECK: arith.addf
// SAME: comparison 0 agrees
func.func @main(%x: tensor<9x8xf32>, %u: tensor<5x8xf32>, %i: tensor<5xi64>) -> tensor<9x8xf32> {
  %0 = cuvil_tensor.scatter add %x, %u, %i axes = [0] : tensor<9x8xf32>, tensor<5x8xf32>, tensor<5xi64> -> tensor<9x8xf32>
  func.return %0 : tensor<9x8xf32>
}
