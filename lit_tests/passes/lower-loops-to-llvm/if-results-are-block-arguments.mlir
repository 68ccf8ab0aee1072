// RUN: cuvil-opt %s -p lower-loops-to-llvm | cuvil-opt | filecheck %s
// What the branches yield reaches the block after them as its arguments.
// CHECK-LABEL: llvm.func @choose
// CHECK: llvm.cond_br %{{.*}}, ^[[THEN:.*]], ^[[ELSE:.*]]
// CHECK: ^[[THEN]]:
// CHECK: llvm.br ^[[AFTER:.*]](%{{.*}} : i64)
// CHECK: ^[[ELSE]]:
// CHECK: llvm.br ^[[AFTER]](%{{.*}} : i64)
// CHECK: ^[[AFTER]](%[[R:.*]]: i64):
// CHECK: llvm.return %[[R]]
func.func @choose(%c: i1, %a: index, %b: index) -> index {
  %r = scf.if %c -> (index) {
    scf.yield %a : index
  } else {
    scf.yield %b : index
  }
  func.return %r : index
}
