// RUN: not cuvil-opt %s --run-reproducer 2>&1 | filecheck %s
// RUN: cuvil-opt %s | filecheck %s --check-prefix=PLAIN
// The pipeline in the file is read with the same care as one on the command line.
// CHECK:      pass-pipeline:1:20: error: unknown pass 'csee'; did you mean 'cse'?
// CHECK-NEXT: builtin.module(cse,csee)
// CHECK-NEXT:                    ^~~~
// PLAIN: func.func private @f()
func.func private @f()

{-#
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(cse,csee)",
      disable_threading: true,
      verify_each: true
    }
  }
#-}
