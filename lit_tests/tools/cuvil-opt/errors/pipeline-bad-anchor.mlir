// RUN: not cuvil-opt %s --pass-pipeline='builtin.module(function(cse))' 2>&1 | filecheck %s
// CHECK: pass-pipeline:1:16: error: expected an operation's name before '(', such as func.func, got 'function'
