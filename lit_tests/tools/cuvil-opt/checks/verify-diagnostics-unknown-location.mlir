// RUN: cuvil-opt %s --verify-diagnostics
// expected-error @unknown {{func.return: expected arguments}}
func.func @f() -> i32 {
  func.return loc(unknown)
} loc(unknown)
