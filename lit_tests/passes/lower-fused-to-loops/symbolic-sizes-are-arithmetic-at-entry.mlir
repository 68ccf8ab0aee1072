// RUN: cuvil-opt %s -p 'fuse,pack-weights{target=x86-64-v4},bufferize,plan-memory,lower-fused-to-loops{target=x86-64-v4 threads=1}' | filecheck %s
// RUN: cuvil-run %s --random --pipeline cpu --compare --no-print | filecheck %s --check-prefix=SAME
// A dim as a number: computed from the symbols before the loops.
// CHECK: func.func private @div_0
// CHECK: %[[SIZE:.*]] = arith.muli %s0, %s1 : index
// CHECK: scf.for
// CHECK: arith.index_cast %[[SIZE]] : index to i64
// CHECK: arith.sitofp
// SAME: comparison 0 agrees
!t = tensor<?x?x8xf32, #cuvil_tensor.dims<"s0", "s1", 8>>
func.func @main(%x: !t) -> !t {
  %n = cuvil_tensor.size "s0*s1" : tensor<f32>
  %b = cuvil_tensor.broadcast %n axes = [] : tensor<f32> -> !t
  %0 = cuvil_tensor.binary div %x, %b : !t
  func.return %0 : !t
}
