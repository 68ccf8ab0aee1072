// RUN: cuvil-opt %s -p lower-loops-to-llvm | filecheck %s
// LLVM leaves the layout of i1 in memory open; a byte of 0 or 1 is what PyTorch has.
// CHECK-LABEL: llvm.func @invert
// CHECK: %[[BYTES:.*]] = llvm.load %{{.*}} : !llvm.ptr -> vector<8xi8>
// CHECK: %[[BITS:.*]] = llvm.icmp "ne" %[[BYTES]], %{{.*}} : vector<8xi8>
// CHECK: %[[STORED:.*]] = llvm.zext %{{.*}} : vector<8xi1> to vector<8xi8>
// CHECK: llvm.store %[[STORED]]
func.func @invert(%x: memref<8xi1>) {
  %c0 = arith.constant 0 : index
  %ones = arith.constant dense<true> : vector<8xi1>
  %v = vector.load %x[%c0] : memref<8xi1>, vector<8xi1>
  %n = arith.xori %v, %ones : vector<8xi1>
  vector.store %n, %x[%c0] : memref<8xi1>, vector<8xi1>
  func.return
}
