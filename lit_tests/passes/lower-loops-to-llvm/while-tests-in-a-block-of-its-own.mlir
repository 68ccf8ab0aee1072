// RUN: cuvil-opt %s -p lower-loops-to-llvm | filecheck %s
// The condition is computed anew before every iteration, with what the last one carried.
// CHECK-LABEL: llvm.func @double_until
// CHECK: llvm.br ^[[TEST:.*]](%{{.*}} : i32)
// CHECK: ^[[TEST]](%[[X:.*]]: i32):
// CHECK: llvm.cond_br %{{.*}}, ^[[WORK:.*]](%[[X]] : i32), ^[[AFTER:.*]](%[[X]] : i32)
// CHECK: ^[[WORK]](%{{.*}}: i32):
// CHECK: llvm.br ^[[TEST]](%{{.*}} : i32)
// CHECK: ^[[AFTER]](%[[R:.*]]: i32):
func.func @double_until(%x: i32, %limit: i32) -> i32 {
  %r = scf.while (%a = %x) : (i32) -> i32 {
    %more = arith.cmpi slt, %a, %limit : i32
    scf.condition(%more) %a : i32
  } do {
  ^bb0(%b: i32):
    %twice = arith.addi %b, %b : i32
    scf.yield %twice : i32
  }
  func.return %r : i32
}
