// RUN: not cuvil-opt %s another.mlir 2>&1 | filecheck %s
// CHECK: cuvil-opt: error: more than one input file: 'another.mlir'
