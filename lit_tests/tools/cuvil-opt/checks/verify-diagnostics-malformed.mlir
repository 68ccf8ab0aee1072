// RUN: not cuvil-opt %s --verify-diagnostics 2>&1 | filecheck %s
// An expectation without its text would expect nothing.
// CHECK: error: unexpected error: expectation without {{[{][{]}}message
// CHECK: error: unexpected error: expectation is not a regular expression
// expected-error
// expected-error-re {{(}}
func.func private @f()
