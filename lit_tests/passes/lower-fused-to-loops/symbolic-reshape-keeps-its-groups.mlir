// RUN: cuvil-opt %s -p 'fuse,pack-weights{target=x86-64-v4},bufferize,plan-memory,lower-fused-to-loops{target=x86-64-v4 threads=1}' | filecheck %s
// RUN: cuvil-run %s --random --pipeline cpu --compare --no-print | filecheck %s --check-prefix=SAME
// s0*s1 rows become s0 times s1 of them: the flat position stays, and the known dim splits without a division.
// CHECK: func.func private @sub_0
// CHECK-NOT: arith.divui
// CHECK: vector.load %x
// CHECK: vector.load %y
// SAME: comparison 0 agrees
!x = tensor<?x16xf32, #cuvil_tensor.dims<"s0*s1", 16>>
!y = tensor<?x?x4x4xf32, #cuvil_tensor.dims<"s0", "s1", 4, 4>>
func.func @main(%x: !x, %y: !y) -> !y {
  %0 = cuvil_tensor.reshape %x : !x -> !y
  %1 = cuvil_tensor.binary sub %0, %y : !y
  func.return %1 : !y
}
