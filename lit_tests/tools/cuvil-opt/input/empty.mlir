// RUN: cuvil-opt %s | filecheck %s
// A file with comments alone is an empty module.

// CHECK:      builtin.module {
// CHECK-NEXT: }
