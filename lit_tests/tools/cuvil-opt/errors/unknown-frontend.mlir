// RUN: not cuvil-opt %s -f fortran 2>&1 | filecheck %s
// CHECK: error: unknown frontend 'fortran'; known: mlir
