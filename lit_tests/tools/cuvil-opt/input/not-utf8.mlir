// RUN: printf '\xff\xfe' > %t
// RUN: not cuvil-opt %t 2>&1 | filecheck %s
// CHECK: error: '{{.*}}' is not UTF-8 text: byte 0 is 0xff
