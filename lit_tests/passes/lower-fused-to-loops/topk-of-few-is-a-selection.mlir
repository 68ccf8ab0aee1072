// RUN: cuvil-opt %s -p 'fuse,pack-weights{target=x86-64-v4},bufferize,plan-memory,lower-fused-to-loops{target=x86-64-v4 threads=1}' | filecheck %s
// RUN: cuvil-run %s --random --pipeline cpu --compare --no-print | filecheck %s --check-prefix=SAME
// The best so far are kept in order; most elements are compared with the last of them only.
// CHECK: func.func private @topk
// CHECK: memref.alloca() {{.*}}: memref<4xf32>
// CHECK: memref.alloca() {{.*}}: memref<4xi64>
// CHECK: scf.if
// SAME: comparison 0 agrees
// SAME: comparison 1 agrees
func.func @main(%x: tensor<2x64xf32>) -> (tensor<2x4xf32>, tensor<2x4xi64>) {
  %0, %1 = cuvil_tensor.topk %x axis = 1 descending k = 4 : tensor<2x64xf32> -> (tensor<2x4xf32>, tensor<2x4xi64>)
  func.return %0, %1 : tensor<2x4xf32>, tensor<2x4xi64>
}
