// RUN: cuvil-opt %s -p lower-loops-to-llvm | filecheck %s
// A comparison and a branch for each case, in order; the default comes last.
// CHECK-LABEL: llvm.func @switch
// CHECK: llvm.icmp "eq"
// CHECK: llvm.cond_br
// CHECK: llvm.icmp "eq"
// CHECK: llvm.cond_br
// CHECK-NOT: llvm.cond_br
func.func @switch(%n: index, %a: i32) -> i32 {
  %r = scf.index_switch %n -> i32
  case 2 {
    scf.yield %a : i32
  }
  case 5 {
    scf.yield %a : i32
  }
  default {
    scf.yield %a : i32
  }
  func.return %r : i32
}
