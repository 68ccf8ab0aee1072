// RUN: not cuvil-opt %s --verify-diagnostics 2>&1 | filecheck %s
// The text alone is not enough.
// CHECK-DAG: error: unexpected error: func.return: expected arguments
// CHECK-DAG: :5:4: error: expected error "expected arguments" was not produced
// expected-error @+1 {{expected arguments}}
func.func @f() -> i32 {
  func.return
}
