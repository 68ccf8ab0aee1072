// RUN: cuvil-opt %s --verify-diagnostics
// The error is at the second definition; the module, whose verifier finds it, has no place.
func.func private @f()
// expected-error @+1 {{builtin.module: redefinition of symbol "f"}}
func.func private @f()
