// RUN: not cuvil-opt %s --verify-diagnostics 2>&1 | filecheck %s
// RUN: not cuvil-opt %s --verify-diagnostics=only-expected 2>&1 | filecheck %s
// An expectation that nothing meets is a failure.
// CHECK: :5:4: error: expected error "nothing of the kind" was not produced
// expected-error @+1 {{nothing of the kind}}
func.func private @f()
