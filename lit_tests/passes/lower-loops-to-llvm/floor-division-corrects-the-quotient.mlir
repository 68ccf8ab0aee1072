// RUN: cuvil-opt %s -p lower-loops-to-llvm | filecheck %s
// LLVM's division rounds towards zero: where the signs differ and a rest is left, one is taken off.
// CHECK-LABEL: llvm.func @floor
// CHECK: %[[Q:.*]] = llvm.sdiv
// CHECK: llvm.srem
// CHECK: %[[LESS:.*]] = llvm.add %[[Q]], %{{.*}} : i64
// CHECK: llvm.select %{{.*}}, %[[LESS]], %[[Q]] : i1, i64
func.func @floor(%a: i64) -> i64 {
  %c = arith.constant 5 : i64
  %0 = arith.floordivsi %a, %c : i64
  func.return %0 : i64
}
