// RUN: cuvil-opt %s -p 'fuse,pack-weights{target=x86-64-v4},bufferize,plan-memory,lower-fused-to-loops{target=x86-64-v4 threads=2}' | filecheck %s
// RUN: cuvil-run %s --random --pipeline cpu --compare --no-print | filecheck %s --check-prefix=SAME
// Where the range says that there is never enough to do, nothing is shared out; a multiple of the lanes has no rest.
// CHECK: func.func private @neg_0
// CHECK-NOT: scf.parallel
// CHECK-NOT: vector.create_mask
// CHECK: scf.for
// CHECK: vector.store
// CHECK-NOT: scf.if
// CHECK: func.return
// SAME: comparison 0 agrees
!t = tensor<?x4xf32, #cuvil_tensor.dims<"s0", 4>>
func.func @main(%x: !t) -> !t
    attributes {cuvil_tensor.symbols = {s0 = #cuvil_tensor.range<4, 512, multiple_of = 4>}} {
  %0 = cuvil_tensor.unary neg %x : !t
  func.return %0 : !t
}
