// RUN: cuvil-opt %s -p 'fuse,pack-weights{target=x86-64-v4},bufferize,plan-memory,lower-fused-to-loops{target=x86-64-v4 threads=1}' | filecheck %s
// RUN: cuvil-run %s --random --pipeline cpu --compare --no-print | filecheck %s --check-prefix=SAME
// The loop is cut where the operand changes: no lane asks which operand it reads.
// CHECK: func.func private @concat
// CHECK-NOT: arith.select
// CHECK: scf.for
// CHECK-NOT: arith.select
// CHECK: scf.for
// CHECK-NOT: arith.select
// SAME: comparison 0 agrees
func.func @main(%x: tensor<32xf32>, %y: tensor<64xf32>) -> tensor<96xf32> {
  %0 = cuvil_tensor.concat %x, %y axis = 0 : tensor<32xf32>, tensor<64xf32> -> tensor<96xf32>
  func.return %0 : tensor<96xf32>
}
