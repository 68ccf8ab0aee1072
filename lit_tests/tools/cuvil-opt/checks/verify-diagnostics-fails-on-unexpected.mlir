// RUN: not cuvil-opt %s --verify-diagnostics 2>&1 | filecheck %s
// RUN: cuvil-opt %s --verify-diagnostics=only-expected
// A diagnostic that nobody expects is a failure, unless only the expected ones are asked about.
func.func @f() -> i32 {
  // CHECK: :[[# @LINE + 1]]:3: error: unexpected error: func.return
  func.return
}
