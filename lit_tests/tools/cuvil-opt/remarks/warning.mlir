// RUN: cuvil-opt %s --load-pass-plugin=%S/../Inputs/test_passes.py -p test-report 2>&1 | filecheck %s
// A warning is shown, and is no failure.
// CHECK: :6:1: warning: more than one function
// CHECK: builtin.module
func.func private @f()
func.func private @g()
