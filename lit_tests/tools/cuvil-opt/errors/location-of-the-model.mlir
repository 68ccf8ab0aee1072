// RUN: printf 'import torch\nx = y + 1\n' > %t.py
// RUN: sed 's#MODEL#%t.py#' %s > %t.mlir
// RUN: not cuvil-opt %t.mlir 2>&1 | filecheck %s
// An operation that came from a model's source is shown in that source.
// CHECK:      {{.*}}.py:2:5: error: arith.addf: expected 2 operands, but got 1
// CHECK-NEXT: x = y + 1
// CHECK-NEXT:     ^
func.func @f(%a: f32) {
  %0 = "arith.addf"(%a) : (f32) -> f32 loc("MODEL":2:5)
  func.return
}
