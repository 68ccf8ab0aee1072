// RUN: cuvil-opt %s -p lower-loops-to-llvm | filecheck %s
// What a func argument promises holds in the parallel loop's own function too.
// CHECK: llvm.func internal @kept.range(%{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: i64, %{{.*}}: i64)
func.func @kept(%x: memref<64xf32> {llvm.noalias}, %n: index) {
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
// A view of the buffer is captured as well: the promise would be false.
// CHECK: llvm.func internal @dropped.range(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr,
func.func @dropped(%x: memref<64xi8> {llvm.noalias}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = arith.constant 1 : i8
  %view = memref.view %x[%n][] : memref<64xi8> to memref<8xi8>
  "scf.parallel"(%c0, %n, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    memref.store %v, %x[%i] : memref<64xi8>
    memref.store %v, %view[%i] : memref<8xi8>
    scf.reduce
  }) : (index, index, index) -> ()
  func.return
}
