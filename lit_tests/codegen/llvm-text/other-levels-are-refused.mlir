// RUN: not cuvil-opt %s -t llvm 2>&1 | filecheck %s
// CHECK: func.func: is not of the llvm level: run lower-loops-to-llvm first
func.func @f() {
  func.return
}
