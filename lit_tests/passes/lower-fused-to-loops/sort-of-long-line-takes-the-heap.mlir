// RUN: cuvil-opt %s -p 'fuse,pack-weights{target=x86-64-v4},bufferize,plan-memory,lower-fused-to-loops{target=x86-64-v4 threads=1}' | filecheck %s
// RUN: cuvil-run %s --random --pipeline cpu --compare --no-print | filecheck %s --check-prefix=SAME
// A line too long for the stack is sorted in memory that the kernel gives back.
// CHECK: func.func private @sort
// CHECK: memref.alloc() {{.*}}: memref<40000xi64>
// CHECK: memref.dealloc
// SAME: comparison 0 agrees
// SAME: comparison 1 agrees
func.func @main(%x: tensor<20000xf32>) -> (tensor<20000xf32>, tensor<20000xi64>) {
  %0, %1 = cuvil_tensor.sort %x axis = 0 : tensor<20000xf32> -> (tensor<20000xf32>, tensor<20000xi64>)
  func.return %0, %1 : tensor<20000xf32>, tensor<20000xi64>
}
