// RUN: rm -f %t.mlir
// RUN: cuvil-opt %s -p cse --mlir-pass-pipeline-crash-reproducer=%t.mlir
// RUN: not test -f %t.mlir
func.func private @f()
