// RUN: cuvil-opt %s -p "lower-loops-to-llvm{target=x86-64-v3}" | filecheck %s
// LLVM would call a library function that is not there.
// CHECK-LABEL: llvm.func @narrow
// CHECK-NOT: llvm.fptrunc
// CHECK: %[[BITS:.*]] = llvm.bitcast %{{.*}} : vector<8xf32> to vector<8xi32>
// CHECK: llvm.lshr
// CHECK: %[[HALF:.*]] = llvm.trunc %{{.*}} : vector<8xi32> to vector<8xi16>
// CHECK: llvm.store %[[HALF]], %{{.*}} {alignment = 2 : i64} : vector<8xi16>, !llvm.ptr
func.func @narrow(%v: vector<8xf32>, %o: memref<8xbf16>) {
  %c0 = arith.constant 0 : index
  %0 = arith.truncf %v : vector<8xf32> to vector<8xbf16>
  vector.store %0, %o[%c0] : memref<8xbf16>, vector<8xbf16>
  func.return
}
