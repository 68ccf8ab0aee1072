// RUN: not cuvil-opt --split-input-file %s > %t.out
// RUN: echo end >> %t.out
// RUN: filecheck %s --input-file=%t.out
// Not even the parts that went well: whoever reads the pipe would take them for the whole.
// CHECK-NOT: builtin.module
// CHECK: end
func.func private @f()
// -----
func.nothing
