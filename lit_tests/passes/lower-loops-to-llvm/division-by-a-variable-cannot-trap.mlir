// RUN: cuvil-opt %s -p lower-loops-to-llvm | filecheck %s
// Lanes that a mask leaves out divide as well: 0 becomes 1, and so does -1 below the least number.
// CHECK-LABEL: llvm.func @divide
// CHECK: %[[ZERO:.*]] = llvm.icmp "eq" %[[B:.*]], %{{.*}} : i32
// CHECK: %[[TRAPS:.*]] = llvm.or %[[ZERO]], %{{.*}} : i1
// CHECK: %[[SAFE:.*]] = llvm.select %[[TRAPS]], %{{.*}}, %[[B]] : i1, i32
// CHECK: llvm.sdiv %{{.*}}, %[[SAFE]] : i32
func.func @divide(%a: i32, %b: i32) -> i32 {
  %0 = arith.divsi %a, %b : i32
  func.return %0 : i32
}
