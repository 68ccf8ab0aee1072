// RUN: cuvil-opt %s --mlir-print-debuginfo | filecheck %s
// RUN: cuvil-opt %s | filecheck %s --check-prefix=PLAIN
// Operations without loc(...) have the place they were written at; locations show only on request.

// PLAIN-NOT: loc(
func.func @f(%a: f32) -> f32 {
  // CHECK: arith.addf %a, %a : f32 loc("model.py":3:5)
  %0 = arith.addf %a, %a : f32 loc("model.py":3:5)
  // CHECK: arith.mulf %0, %0 : f32 loc("{{.*}}debuginfo.mlir":10:8)
  %1 = arith.mulf %0, %0 : f32
  // CHECK: arith.subf %1, %1 : f32 loc(unknown)
  %2 = arith.subf %1, %1 : f32 loc(unknown)
  func.return %2 : f32
}
