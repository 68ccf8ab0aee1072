// RUN: cuvil-opt %s -p 'fuse,pack-weights{target=x86-64-v4},bufferize,plan-memory,lower-fused-to-loops{target=x86-64-v4 threads=1}' | filecheck %s
// RUN: cuvil-run %s --random --pipeline cpu --compare --no-print | filecheck %s --check-prefix=SAME
// The same ops on other types are another function.
// CHECK-COUNT-2: func.func private @exp
// SAME: comparison 0 agrees
// SAME: comparison 1 agrees
func.func @main(%x: tensor<16xf32>, %y: tensor<8xf32>) -> (tensor<16xf32>, tensor<8xf32>) {
  %0 = cuvil_tensor.unary exp %x : tensor<16xf32>
  %1 = cuvil_tensor.unary exp %y : tensor<8xf32>
  func.return %0, %1 : tensor<16xf32>, tensor<8xf32>
}
