// RUN: cuvil-opt %s -p bufferize | filecheck %s
// RUN: cuvil-opt %s -p bufferize,plan-memory --validate -o /dev/null
// Carried tensors are assigned at once: a swap goes through a temporary.
// CHECK: scf.for
// CHECK-NEXT:   [[T:%\d+]] = cuvil_fused.alloc : memref<4xf32>
// CHECK-NEXT:   cuvil_fused.copy %out0, [[T]]
// CHECK-NEXT:   cuvil_fused.copy %out1, %out0
// CHECK-NEXT:   cuvil_fused.copy [[T]], %out1
// CHECK-NEXT:   cuvil_fused.free [[T]]
// CHECK-NEXT: }
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>, %n: index) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %0, %1 = scf.for %i = %zero to %n step %one iter_args(%p = %x, %q = %y) -> (tensor<4xf32>, tensor<4xf32>) {
    scf.yield %q, %p : tensor<4xf32>, tensor<4xf32>
  }
  func.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
