// RUN: cuvil-opt %s -p 'fuse,pack-weights{target=x86-64-v4},bufferize,plan-memory,lower-fused-to-loops{target=x86-64-v4 threads=1}' | filecheck %s
// RUN: cuvil-run %s --random --pipeline cpu --compare --no-print | filecheck %s --check-prefix=SAME
// A scalar kernel loads and stores one element.
// CHECK: func.func private @neg
// CHECK: memref.load
// CHECK: memref.store
// SAME: comparison 0 agrees
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = cuvil_tensor.unary neg %x : tensor<f32>
  func.return %0 : tensor<f32>
}
