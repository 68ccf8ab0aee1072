// RUN: cuvil-opt %s -p 'fuse,pack-weights{target=x86-64-v4},bufferize,plan-memory,lower-fused-to-loops{target=x86-64-v4 threads=1}' | filecheck %s
// RUN: cuvil-run %s --random --pipeline cpu --compare --no-print | filecheck %s --check-prefix=SAME
// Only the rows are symbolic: along the known dim the loops are those of known shapes, without tests or masks.
// CHECK: func.func private @add_0(%x: memref<?xf32>, %b: memref<32xf32>, {{.*}}: memref<?xf32>, %s0: index, %s1: index)
// CHECK: %[[ROWS:.*]] = arith.muli %s0, %s1 : index
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[ROWS]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}}
// CHECK-NOT: scf.if
// CHECK: vector.store
// CHECK-NOT: create_mask
// CHECK: func.return
// SAME: comparison 0 agrees
!t = tensor<?x?x32xf32, #cuvil_tensor.dims<"s0", "s1", 32>>
func.func @main(%x: !t, %b: tensor<32xf32>) -> !t {
  %0 = cuvil_tensor.broadcast %b axes = [2] : tensor<32xf32> -> !t
  %1 = cuvil_tensor.binary add %x, %0 : !t
  func.return %1 : !t
}
