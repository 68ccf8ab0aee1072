// RUN: cuvil-opt %s -p 'fuse,pack-weights{target=x86-64-v4},bufferize,plan-memory,lower-fused-to-loops{target=x86-64-v4 threads=2}' | filecheck %s
// RUN: cuvil-run %s --random --pipeline cpu --compare --no-print | filecheck %s --check-prefix=SAME
// How much there is to do is known when running only: whole vectors are shared out where it is worth it, else one part
// does all of them. What is left over is masked, if there is any.
// CHECK: func.func @main({{.*}}, %arena: memref<0xi8>, %s0: index)
// CHECK: func.call @neg_0(%x, %out0, %s0)
// CHECK: func.func private @neg_0(%x: memref<?xf32>, {{.*}}: memref<?xf32>, %s0: index)
// CHECK: arith.cmpi sge, %s0, %{{.*}} : index
// CHECK: arith.select
// CHECK: "scf.parallel"
// CHECK: scf.for
// CHECK: vector.load
// CHECK: scf.if
// CHECK: vector.create_mask
// CHECK: vector.maskedstore
// SAME: comparison 0 agrees
!t = tensor<?xf32, #cuvil_tensor.dims<"s0">>
func.func @main(%x: !t) -> !t attributes {cuvil_tensor.symbols = {s0 = #cuvil_tensor.range<0, ?>}} {
  %0 = cuvil_tensor.unary neg %x : !t
  func.return %0 : !t
}
