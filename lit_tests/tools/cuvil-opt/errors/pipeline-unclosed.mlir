// RUN: not cuvil-opt %s --pass-pipeline='builtin.module(cse' 2>&1 | filecheck %s
// RUN: not cuvil-opt %s --pass-pipeline='builtin.module(canonicalize{max-iterations=1)' 2>&1 | filecheck %s --check-prefix=BRACE
// RUN: not cuvil-opt %s -p 'cse)' 2>&1 | filecheck %s --check-prefix=EXTRA
// CHECK: pass-pipeline:1:15: error: '(' is never closed
// BRACE: pass-pipeline:1:45: error: expected an option name
// EXTRA: pass-pipeline:1:4: error: unbalanced ')'
