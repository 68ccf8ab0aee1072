// RUN: not cuvil-opt %s --pass-pipeline='builtin.module(cse)' --dce 2>&1 | filecheck %s
// CHECK: cuvil-opt: error: --pass-pipeline cannot be combined with -p or a pass's own flag
