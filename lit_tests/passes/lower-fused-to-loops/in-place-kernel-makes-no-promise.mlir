// RUN: cuvil-opt %s -p 'fuse,pack-weights{target=x86-64-v4},bufferize,plan-memory,lower-fused-to-loops{target=x86-64-v4 threads=1}' | filecheck %s
// RUN: cuvil-run %s --random --pipeline cpu --compare --no-print | filecheck %s --check-prefix=SAME
// A kernel that streams an operand of its result's type may be called in place: its destination is not noalias.
// CHECK: func.func private @neg
// CHECK-NOT: llvm.noalias
// SAME: comparison 0 agrees
func.func @main(%x: tensor<16xf32>) -> tensor<16xf32> {
  %0 = cuvil_tensor.unary neg %x : tensor<16xf32>
  func.return %0 : tensor<16xf32>
}
