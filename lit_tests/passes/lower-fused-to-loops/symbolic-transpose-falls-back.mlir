// RUN: cuvil-opt %s -p 'fuse,pack-weights{target=x86-64-v4},bufferize,plan-memory,lower-fused-to-loops{target=x86-64-v4 threads=1}' | filecheck %s
// RUN: cuvil-run %s --random --pipeline cpu --compare --no-print | filecheck %s --check-prefix=SAME
// Blocks of lanes x lanes need dims that are as long: a test chooses between them and single elements.
// CHECK: func.func private @transpose_0
// CHECK: %[[ENOUGH:.*]] = arith.andi %{{.*}}, %{{.*}} : i1
// CHECK: scf.if %[[ENOUGH]]
// CHECK: vector.shuffle
// CHECK: } else {
// CHECK-NOT: vector.shuffle
// CHECK: memref.store
// SAME: comparison 0 agrees
!t = tensor<?x?xf32, #cuvil_tensor.dims<"s0", "s1">>
!u = tensor<?x?xf32, #cuvil_tensor.dims<"s1", "s0">>
func.func @main(%x: !t) -> !u {
  %0 = cuvil_tensor.transpose %x input_order = [1, 0] : !t -> !u
  func.return %0 : !u
}
