// RUN: cuvil-opt %s -p lower-loops-to-llvm | filecheck %s
// An addition may wrap unless its flags say that it does not.
// CHECK-LABEL: llvm.func @wraps
// CHECK: llvm.add %{{.*}}, %{{.*}} : i32
// CHECK: llvm.mul %{{.*}}, %{{.*}} overflow<nsw> : vector<4xi32>
func.func @wraps(%a: i32, %v: vector<4xi32>) {
  %0 = arith.addi %a, %a : i32
  %1 = arith.muli %v, %v overflow<nsw> : vector<4xi32>
  func.return
}
