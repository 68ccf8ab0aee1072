// RUN: cuvil-opt < %s | filecheck %s
// RUN: cuvil-opt - < %s | filecheck %s
// Without a file, and with -, the input is standard input.

// CHECK: func.func @f() {
func.func @f() {
  func.return
}
