// RUN: cuvil-opt %s -p 'fuse,pack-weights{target=x86-64-v4},bufferize,plan-memory,lower-fused-to-loops{target=x86-64-v4 threads=2}' | filecheck %s
// RUN: cuvil-run %s --random --pipeline cpu --compare --no-print | filecheck %s --check-prefix=SAME
// Batch and sequence are rows of one matrix: their product is cut into tiles of 8 when the kernel runs, and what is left
// goes to the lowest tile that holds it. Threads take part only where there is enough work.
// CHECK: func.func private @contract{{.*}}, [[S0:%.*]]: index, [[S1:%.*]]: index)
// CHECK: [[ROWS:%.*]] = arith.muli [[S0]], [[S1]]
// CHECK: arith.divui [[ROWS]], %
// CHECK: arith.cmpi sge
// CHECK: scf.parallel
// CHECK: scf.if
// CHECK: arith.cmpi sle, [[LEFT:%.*]], %
// CHECK: arith.cmpi sle, [[LEFT]], %
// SAME: comparison 0 agrees
func.func @main(%x: tensor<?x?x32xf32, #cuvil_tensor.dims<"s0", "s1", 32>>, %w: tensor<32x64xf32>) -> tensor<?x?x64xf32, #cuvil_tensor.dims<"s0", "s1", 64>> {
  %0 = cuvil_tensor.contract %x, %w lhs_batch = [] rhs_batch = [] lhs_contract = [2] rhs_contract = [0] : tensor<?x?x32xf32, #cuvil_tensor.dims<"s0", "s1", 32>>, tensor<32x64xf32> -> tensor<?x?x64xf32, #cuvil_tensor.dims<"s0", "s1", 64>>
  func.return %0 : tensor<?x?x64xf32, #cuvil_tensor.dims<"s0", "s1", 64>>
}
