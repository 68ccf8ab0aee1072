// RUN: not cuvil-opt %s --verify-diagnostics 2>&1 | filecheck %s
// CHECK-DAG: error: unexpected error: func.return
// CHECK-DAG: error: expected warning "expected arguments" was not produced
func.func @f() -> i32 {
  // expected-warning @+1 {{expected arguments}}
  func.return
}
