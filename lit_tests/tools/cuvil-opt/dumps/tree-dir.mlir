// RUN: rm -rf %t
// RUN: cuvil-opt %s -p 'cse,func.func(canonicalize),dce' --mlir-print-ir-after-all --mlir-print-ir-tree-dir=%t 2>&1 | filecheck %s --check-prefix=STDOUT
// RUN: filecheck %s --input-file=%t/builtin_module_no-symbol-name/0_cse.mlir
// RUN: filecheck %s --input-file=%t/builtin_module_no-symbol-name/func_func_f/1_0_canonicalize.mlir
// RUN: filecheck %s --input-file=%t/builtin_module_no-symbol-name/1_dce.mlir
// RUN: cuvil-opt %t/builtin_module_no-symbol-name/0_cse.mlir | filecheck %s
// Each dump in its own file, which parses.
// STDOUT-NOT: IR Dump
// CHECK: func.func private @f()
func.func private @f()
