// RUN: not cuvil-opt < %s 2>&1 | filecheck %s
// Errors in standard input are located too, with the source line.

func.func @f() {
  func.retrun
}
// CHECK:      <stdin>:5:3: error: operation 'func.retrun' is not registered; did you mean 'func.return'?
// CHECK-NEXT:   func.retrun
// CHECK-NEXT:   ^~~~~~~~~~~
