// RUN: cuvil-opt %s -p lower-loops-to-llvm | filecheck %s
// Both capture one buffer; constants are made again inside.
// CHECK: llvm.func internal @one.range
// CHECK: llvm.func internal @cuvil.thread
// CHECK-NOT: @cuvil.thread_1
func.func @one(%x: memref<64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = arith.constant 1.0 : f32
  "scf.parallel"(%c0, %n, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    memref.store %v, %x[%i] : memref<64xf32>
    scf.reduce
  }) : (index, index, index) -> ()
  func.return
}
func.func @two(%x: memref<64xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = arith.constant 2.0 : f64
  "scf.parallel"(%c0, %n, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    memref.store %v, %x[%i] : memref<64xf64>
    scf.reduce
  }) : (index, index, index) -> ()
  func.return
}
