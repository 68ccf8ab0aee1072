// RUN: cuvil-opt %s -p 'fuse,pack-weights{target=x86-64-v4},bufferize,plan-memory,lower-fused-to-loops{target=x86-64-v4 threads=1}' | filecheck %s
// RUN: cuvil-run %s --random --pipeline cpu --compare --no-print | filecheck %s --check-prefix=SAME
// Positions are merged in scratch lines on the stack.
// CHECK: func.func private @sort
// CHECK: memref.alloca() {{.*}}: memref<64xi64>
// SAME: comparison 0 agrees
// SAME: comparison 1 agrees
func.func @main(%x: tensor<32xf32>) -> (tensor<32xf32>, tensor<32xi64>) {
  %0, %1 = cuvil_tensor.sort %x axis = 0 : tensor<32xf32> -> (tensor<32xf32>, tensor<32xi64>)
  func.return %0, %1 : tensor<32xf32>, tensor<32xi64>
}
