// RUN: echo "as it was" > %t.mlir
// RUN: not cuvil-opt %s -o %t.mlir
// RUN: filecheck %s --input-file=%t.mlir
// A failing run leaves neither a new file nor half of one.
// CHECK: as it was
func.func @f() -> i32 {
  func.return
}
