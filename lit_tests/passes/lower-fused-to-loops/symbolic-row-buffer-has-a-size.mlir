// RUN: cuvil-opt %s -p 'fuse,pack-weights{target=x86-64-v4},bufferize,plan-memory,lower-fused-to-loops{target=x86-64-v4 threads=1}' | filecheck %s
// RUN: cuvil-run %s --random --pipeline cpu --compare --no-print | filecheck %s --check-prefix=SAME
// The stack keeps a row of up to so many elements; rows that turn out longer compute their exponentials again.
// CHECK: func.func private
// CHECK: %[[FITS:.*]] = arith.cmpi sle, %s1, %{{.*}} : index
// CHECK: scf.if %[[FITS]]
// CHECK: memref.alloca() {{.*}} : memref<32768xf32>
// CHECK: math.exp
// CHECK: vector.reduction <add>
// CHECK: } else {
// CHECK-NOT: memref.alloca
// CHECK: vector.reduction <add>
// CHECK: math.exp
// CHECK: arith.divf
// SAME: comparison 0 agrees
!t = tensor<?x?xf32, #cuvil_tensor.dims<"s0", "s1">>
!r = tensor<?xf32, #cuvil_tensor.dims<"s0">>
func.func @main(%x: !t) -> !t {
  %e = cuvil_tensor.unary exp %x : !t
  %s = cuvil_tensor.reduce add %e axes = [1] : !t -> !r
  %sb = cuvil_tensor.broadcast %s axes = [0] : !r -> !t
  %r = cuvil_tensor.binary div %e, %sb : !t
  func.return %r : !t
}
