// RUN: cuvil-opt %s --parsing-diagnostics 2>&1 | filecheck %s
// xDSL's flag: a parse error is shown, and is no failure.
// CHECK: :4:1: error: operation 'func.nothing' is not registered
func.nothing
