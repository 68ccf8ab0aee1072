// RUN: cuvil-opt %s -p 'fuse,pack-weights{target=x86-64-v4},bufferize,plan-memory,lower-fused-to-loops{target=x86-64-v4 threads=1}' | filecheck %s
// RUN: cuvil-run %s --random --pipeline cpu --compare --no-print | filecheck %s --check-prefix=SAME
// Bias and activation are computed on the accumulators; the destination is promised to be alone.
// CHECK: func.func private @contract{{.*}} {llvm.noalias})
// CHECK: vector.fma
// CHECK: cmpf olt
// CHECK: vector.store
// SAME: comparison 0 agrees
func.func @main(%x: tensor<6x32xf32>, %w: tensor<32x64xf32>, %b: tensor<64xf32>) -> tensor<6x64xf32> {
  %0 = cuvil_tensor.contract %x, %w lhs_batch = [] rhs_batch = [] lhs_contract = [1] rhs_contract = [0] : tensor<6x32xf32>, tensor<32x64xf32> -> tensor<6x64xf32>
  %1 = cuvil_tensor.broadcast %b axes = [1] : tensor<64xf32> -> tensor<6x64xf32>
  %2 = cuvil_tensor.binary add %0, %1 : tensor<6x64xf32>
  %3 = cuvil_tensor.unary relu %2 : tensor<6x64xf32>
  func.return %3 : tensor<6x64xf32>
}
