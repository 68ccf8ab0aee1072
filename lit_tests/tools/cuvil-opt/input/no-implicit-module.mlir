// RUN: not cuvil-opt --no-implicit-module %s 2>&1 | filecheck %s
// RUN: cuvil-opt --no-implicit-module=0 %s | filecheck %s --check-prefix=IMPLICIT
// A bare operation is not a module if the user says so.

// CHECK: no-implicit-module.mlir:7:1: error: builtin.module operation expected
// IMPLICIT: builtin.module {
func.func private @f()
