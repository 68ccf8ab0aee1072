// RUN: not cuvil-opt %s -t nope 2>&1 | filecheck %s
// CHECK: error: unknown target 'nope'; known: {{.*}}mlir
