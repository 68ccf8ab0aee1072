// RUN: cuvil-opt %s -p lower-loops-to-llvm | filecheck %s
// maximumf gives NaN where either is NaN, maxnumf the other operand: two intrinsics.
// CHECK-LABEL: llvm.func @maxima
// CHECK: "llvm.maximum"
// CHECK: "llvm.maxnum"
// CHECK: "llvm.smax"
func.func @maxima(%a: vector<8xf32>, %i: i32) {
  %0 = arith.maximumf %a, %a : vector<8xf32>
  %1 = arith.maxnumf %a, %a : vector<8xf32>
  %2 = arith.maxsi %i, %i : i32
  func.return
}
