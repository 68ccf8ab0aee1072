// RUN: cuvil-opt %s -p 'fuse,pack-weights{target=x86-64-v4},bufferize,plan-memory,lower-fused-to-loops{target=x86-64-v4 threads=2}' | filecheck %s
// RUN: cuvil-run %s --random --pipeline cpu --compare --no-print | filecheck %s --check-prefix=SAME
// One long line: its vectors are cut into one range a thread and more.
// CHECK: func.func private @neg
// CHECK: scf.parallel
// CHECK: scf.for
// CHECK: vector.load
// SAME: comparison 0 agrees
func.func @main(%x: tensor<65536xf32>) -> tensor<65536xf32> {
  %0 = cuvil_tensor.unary neg %x : tensor<65536xf32>
  func.return %0 : tensor<65536xf32>
}
