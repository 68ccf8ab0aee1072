// RUN: cuvil-opt %s -p lower-loops-to-llvm | cuvil-opt | filecheck %s
// The thread function comes out of line, takes its share of the count, and calls the range.
// CHECK-LABEL: llvm.func internal @fill.range(%{{.*}}: f32, %{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64)
// CHECK: llvm.func internal @cuvil.thread(%{{.*}}: !llvm.ptr) {
// CHECK: llvm.call @omp_get_thread_num
// CHECK: llvm.call @omp_get_num_threads
// CHECK: llvm.mlir.global external @cuvil_num_threads(1 : i32)
// CHECK-LABEL: llvm.func @fill
// CHECK: llvm.cond_br %{{.*}}, ^[[ALONE:.*]], ^[[TEAM:.*]]
// CHECK: ^[[ALONE]]:
// CHECK: llvm.call @fill.range
// CHECK: ^[[TEAM]]:
// CHECK: %[[BODY:.*]] = llvm.mlir.addressof @cuvil.thread : !llvm.ptr
// CHECK: llvm.call @GOMP_parallel(%[[BODY]], %{{.*}}, %{{.*}}, %{{.*}})
func.func @fill(%x: memref<64xf32>, %v: f32, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  "scf.parallel"(%c0, %n, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    memref.store %v, %x[%i] : memref<64xf32>
    scf.reduce
  }) : (index, index, index) -> ()
  func.return
}
