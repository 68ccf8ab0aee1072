// RUN: not cuvil-opt %s -o %t.no/such/directory/out.mlir 2>&1 | filecheck %s
// CHECK: error: cannot write '{{.*}}/out.mlir': No such file or directory
