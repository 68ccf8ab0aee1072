// RUN: cuvil-opt %s -p fuse,bufferize,plan-memory,lower-fused-to-gpu | filecheck %s
// RUN: cuvil-run %s --random --no-print --pipeline fuse,bufferize,plan-memory,lower-fused-to-gpu --compare | filecheck %s --check-prefix=SIM
// A thread sums the products of one element, and finishes it by the fused operation: one kernel, one store.
// CHECK: cuvil_gpu.launch
// CHECK-NOT: cuvil_gpu.launch
// CHECK: cuvil_gpu.kernel
// CHECK: scf.for
// CHECK: math.tanh
// CHECK: memref.store
// CHECK-NOT: memref.store
// SIM: comparison 0 agrees
func.func @main(%x: tensor<5x7xf32>, %w: tensor<7x9xf32>) -> tensor<5x9xf32> {
  %0 = cuvil_tensor.contract %x, %w lhs_batch = [] rhs_batch = [] lhs_contract = [1] rhs_contract = [0] : tensor<5x7xf32>, tensor<7x9xf32> -> tensor<5x9xf32>
  %1 = cuvil_tensor.unary tanh %0 : tensor<5x9xf32>
  func.return %1 : tensor<5x9xf32>
}
