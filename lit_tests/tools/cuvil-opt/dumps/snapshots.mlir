// RUN: rm -rf %t
// RUN: cuvil-opt %s -p cse,canonicalize --snapshots=%t
// RUN: filecheck %s --input-file=%t/00-input.mlir
// RUN: filecheck %s --input-file=%t/01-cse.mlir
// RUN: filecheck %s --input-file=%t/02-canonicalize.mlir
// CHECK: func.func private @f()
func.func private @f()
