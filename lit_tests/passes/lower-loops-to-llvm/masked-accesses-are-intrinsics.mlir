// RUN: cuvil-opt %s -p lower-loops-to-llvm | cuvil-opt | filecheck %s
// The count is clamped before it is narrowed to the lane numbers' type.
// CHECK-LABEL: llvm.func @tail
// CHECK: "llvm.smin"
// CHECK: "llvm.smax"
// CHECK: %[[MASK:.*]] = llvm.icmp "slt" %{{.*}}, %{{.*}} : vector<8xi32>
// CHECK: %[[V:.*]] = llvm.call_intrinsic "llvm.masked.load"(%{{.*}}, %[[MASK]], %{{.*}}) {alignment = 4 : i64}
// CHECK: llvm.call_intrinsic "llvm.masked.store"(%[[V]], %{{.*}}, %[[MASK]]) {alignment = 4 : i64}
func.func @tail(%x: memref<64xf32>, %i: index, %n: index) {
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %mask = vector.create_mask %n : vector<8xi1>
  %v = vector.maskedload %x[%i], %mask, %zero : memref<64xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
  vector.maskedstore %x[%i], %mask, %v : memref<64xf32>, vector<8xi1>, vector<8xf32>
  func.return
}
