// RUN: cuvil-opt %s -p cse,canonicalize --mlir-print-ir-after-all --mlir-timing --mlir-pass-statistics --dump-pass-pipeline 2>/dev/null | cuvil-opt | filecheck %s
// Dumps and reports never reach the next tool.
// CHECK: func.func private @f()
func.func private @f()
