// RUN: cuvil-opt %s -p 'fuse,pack-weights{target=x86-64-v4},bufferize,plan-memory,lower-fused-to-loops{target=x86-64-v4 threads=1}' | filecheck %s
// RUN: cuvil-run %s --random --pipeline cpu --compare --no-print | filecheck %s --check-prefix=SAME
// A range says how long a row can be: the buffer has that length, and there is no other version.
// CHECK: func.func private
// CHECK-NOT: scf.if
// CHECK: memref.alloca() {{.*}} : memref<512xf32>
// CHECK-NOT: } else {
// SAME: comparison 0 agrees
!t = tensor<?x?xf32, #cuvil_tensor.dims<"s0", "s1">>
!r = tensor<?xf32, #cuvil_tensor.dims<"s0">>
func.func @main(%x: !t) -> !t attributes
    {cuvil_tensor.symbols = {s0 = #cuvil_tensor.range<0, ?>, s1 = #cuvil_tensor.range<1, 512>}} {
  %e = cuvil_tensor.unary exp %x : !t
  %s = cuvil_tensor.reduce add %e axes = [1] : !t -> !r
  %sb = cuvil_tensor.broadcast %s axes = [0] : !r -> !t
  %r = cuvil_tensor.binary div %e, %sb : !t
  func.return %r : !t
}
