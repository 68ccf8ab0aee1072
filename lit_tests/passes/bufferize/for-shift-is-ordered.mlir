// RUN: cuvil-opt %s -p bufferize | filecheck %s
// RUN: cuvil-opt %s -p bufferize,plan-memory --validate -o /dev/null
// The twin: a shift has an order in which each buffer is read before it is written; no temporary.
// CHECK: scf.for
// CHECK-NEXT:   cuvil_fused.copy %out0, %out1
// CHECK-NEXT:   cuvil_fused.copy %x, %out0
// CHECK-NEXT: }
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>, %n: index) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %0, %1 = scf.for %i = %zero to %n step %one iter_args(%p = %x, %q = %y) -> (tensor<4xf32>, tensor<4xf32>) {
    scf.yield %x, %p : tensor<4xf32>, tensor<4xf32>
  }
  func.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
