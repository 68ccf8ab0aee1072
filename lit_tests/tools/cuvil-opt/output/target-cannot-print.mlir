// RUN: not cuvil-opt %s -t riscv-asm 2>&1 | filecheck %s
// CHECK: error: target 'riscv-asm' cannot print this module:
func.func @f(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  func.return %0 : i32
}
