// RUN: not cuvil-opt %s --verify-each=maybe 2>&1 | filecheck %s
// RUN: not cuvil-opt %s --mlir-timing-display=pie 2>&1 | filecheck %s --check-prefix=CHOICE
// RUN: not cuvil-opt %s --remarks-filter='(' 2>&1 | filecheck %s --check-prefix=REGEX
// CHECK: cuvil-opt: error: argument --verify-each: expected true or false, got 'maybe'
// CHOICE: cuvil-opt: error: argument --mlir-timing-display: invalid choice: 'pie'
// REGEX: error: remarks filter '(' is not a regular expression
