// RUN: cuvil-opt %s -p '' | filecheck %s
// RUN: cuvil-opt %s --pass-pipeline='builtin.module()' | filecheck %s
// CHECK: builtin.module
