// RUN: cuvil-opt %s -p lower-math | filecheck %s
// n = round(x / ln 2) by the magic number; 2^n by its bits, in two factors so that subnormal results round once.
// CHECK-LABEL: func.func @exp(%x: vector<8xf32>)
// CHECK: %[[SHIFTED:.*]] = vector.fma
// CHECK: %[[N:.*]] = arith.subf %[[SHIFTED]]
// CHECK: %[[BITS:.*]] = arith.bitcast %[[SHIFTED]] : vector<8xf32> to vector<8xi32>
// CHECK: %[[R:.*]] = vector.fma %[[N]]
// CHECK: %[[HALF:.*]] = arith.shrui %[[BITS]]
// CHECK: arith.subi %[[BITS]], %[[HALF]]
// CHECK: arith.mulf
// CHECK: %[[RESULT:.*]] = arith.mulf
// CHECK-NEXT: func.return %[[RESULT]]
// CHECK-NOT: math.
func.func @exp(%x: vector<8xf32>) -> vector<8xf32> {
  %0 = math.exp %x : vector<8xf32>
  func.return %0 : vector<8xf32>
}
