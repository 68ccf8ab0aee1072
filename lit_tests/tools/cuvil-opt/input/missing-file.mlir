// RUN: not cuvil-opt %t.does-not-exist 2>&1 | filecheck %s
// CHECK: error: cannot open '{{.*}}.does-not-exist': No such file or directory
