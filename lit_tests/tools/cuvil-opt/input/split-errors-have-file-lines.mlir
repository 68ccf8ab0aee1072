// RUN: not cuvil-opt --split-input-file %s 2>&1 | filecheck %s
// Every part is processed, and lines count from the start of the file.

func.func private @f()
// -----
// CHECK: split-errors-have-file-lines.mlir:7:1: error: operation 'func.first'
func.first
// -----
// CHECK: split-errors-have-file-lines.mlir:10:1: error: operation 'func.second'
func.second
// CHECK-NOT: builtin.module
