// RUN: cuvil-opt %s -p lower-loops-to-llvm | filecheck %s
// A team of threads for one iteration would cost more than it runs.
// CHECK-LABEL: llvm.func @one
// CHECK: llvm.call @one.range
// CHECK-NOT: GOMP_parallel
func.func @one(%x: memref<64xf32>, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  "scf.parallel"(%c0, %c1, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    memref.store %v, %x[%i] : memref<64xf32>
    scf.reduce
  }) : (index, index, index) -> ()
  func.return
}
