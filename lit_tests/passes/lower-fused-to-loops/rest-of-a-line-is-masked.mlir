// RUN: cuvil-opt %s -p 'fuse,pack-weights{target=x86-64-v4},bufferize,plan-memory,lower-fused-to-loops{target=x86-64-v4 threads=1}' | filecheck %s
// RUN: cuvil-run %s --random --pipeline cpu --compare --no-print | filecheck %s --check-prefix=SAME
// What is left after whole vectors is one masked vector.
// CHECK: func.func private @neg
// CHECK: scf.for
// CHECK: dense<[true, true, true, false
// CHECK: vector.maskedload
// CHECK: vector.maskedstore
// SAME: comparison 0 agrees
func.func @main(%x: tensor<35xf32>) -> tensor<35xf32> {
  %0 = cuvil_tensor.unary neg %x : tensor<35xf32>
  func.return %0 : tensor<35xf32>
}
