// RUN: cuvil-opt %s -p lower-loops-to-llvm | cuvil-opt | filecheck %s
// A vector is aligned as its element is: a buffer promises no more.
// CHECK: llvm.func @copy(%[[X:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr, %[[I:.*]]: i64)
// CHECK: %[[P:.*]] = llvm.getelementptr %[[X]][%[[I]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK: %[[V:.*]] = llvm.load %[[P]] {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
// CHECK: llvm.store %[[V]], %{{.*}} {alignment = 4 : i64} : vector<8xf32>, !llvm.ptr
func.func @copy(%x: memref<64xf32>, %y: memref<64xf32>, %i: index) {
  %v = vector.load %x[%i] : memref<64xf32>, vector<8xf32>
  vector.store %v, %y[%i] : memref<64xf32>, vector<8xf32>
  func.return
}
