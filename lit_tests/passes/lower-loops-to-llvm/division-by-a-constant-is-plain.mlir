// RUN: cuvil-opt %s -p lower-loops-to-llvm | filecheck %s
// A constant that is neither 0 nor -1 cannot trap: no guard is needed.
// CHECK-LABEL: llvm.func @divide
// CHECK-NOT: llvm.select
// CHECK: llvm.udiv
func.func @divide(%a: index) -> index {
  %c = arith.constant 12 : index
  %0 = arith.divui %a, %c : index
  func.return %0 : index
}
