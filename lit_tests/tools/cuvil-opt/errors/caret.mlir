// RUN: not cuvil-opt %s 2>&1 | filecheck %s --strict-whitespace --match-full-lines
// MLIR's layout: the place, the source line, a caret under the operation's name.
func.func @f(%a: f32) -> i32 {
  func.return %a : f32
}
//      CHECK:{{.*}}caret.mlir:4:3: error: func.return: expected arguments to have the same types as the function output types: expected [i32], got [f32]
// CHECK-NEXT:  func.return %a : f32
// CHECK-NEXT:  ^
