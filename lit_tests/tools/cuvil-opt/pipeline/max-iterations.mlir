// RUN: cuvil-opt %s --canonicalize=max-iterations=1 | filecheck %s
// RUN: cuvil-opt %s '--canonicalize={max-iterations=10}' | filecheck %s
// RUN: cuvil-opt %s --canonicalize=max-iterations=0 | filecheck %s --check-prefix=NONE
// MLIR's option; upstream's pass has none.

// CHECK-NOT: arith.addi
// NONE: arith.addi
func.func @f(%a: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %0 = arith.addi %a, %zero : i32
  func.return %0 : i32
}
