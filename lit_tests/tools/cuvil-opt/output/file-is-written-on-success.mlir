// RUN: cuvil-opt %s -o %t.mlir
// RUN: filecheck %s --input-file=%t.mlir
// CHECK: func.func private @f()
func.func private @f()
