// RUN: cuvil-opt %s -p 'fuse,pack-weights{target=x86-64-v4},bufferize,plan-memory,lower-fused-to-loops{target=x86-64-v4 threads=1}' | filecheck %s
// RUN: cuvil-run %s --random --pipeline cpu --compare --no-print | filecheck %s --check-prefix=SAME
// Each part has its own loop, to the first part's symbolic end and from there on.
// CHECK: func.func private @concat_0
// CHECK: vector.load %x
// CHECK: vector.maskedload %x
// CHECK: vector.load %y
// CHECK: vector.maskedload %y
// SAME: comparison 0 agrees
!x = tensor<?xf32, #cuvil_tensor.dims<"s0">>
!y = tensor<?xf32, #cuvil_tensor.dims<"s1">>
!r = tensor<?xf32, #cuvil_tensor.dims<"s0 + s1">>
func.func @main(%x: !x, %y: !y) -> !r {
  %0 = cuvil_tensor.concat %x, %y axis = 0 : !x, !y -> !r
  func.return %0 : !r
}
