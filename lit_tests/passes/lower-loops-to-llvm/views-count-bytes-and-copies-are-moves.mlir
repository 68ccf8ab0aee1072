// RUN: cuvil-opt %s -p lower-loops-to-llvm | filecheck %s
// Offsets of memref.view are bytes, all others elements; memmove is right whatever of the two buffers overlaps.
// CHECK-LABEL: llvm.func @copy
// CHECK: %[[VIEW:.*]] = llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK: llvm.call_intrinsic "llvm.memmove"(%{{.*}}, %[[VIEW]], %{{.*}}, %{{.*}}) : (!llvm.ptr, !llvm.ptr, i64, i1) -> ()
func.func @copy(%arena: memref<256xi8>, %y: memref<8xf32>) {
  %c64 = arith.constant 64 : index
  %x = memref.view %arena[%c64][] : memref<256xi8> to memref<8xf32>
  "memref.copy"(%x, %y) : (memref<8xf32>, memref<8xf32>) -> ()
  func.return
}
