// RUN: cuvil-opt %s -p cse,canonicalize,dce --mlir-print-ir-before=dce --mlir-print-ir-after=cse,dce 2>&1 >/dev/null | filecheck %s
// RUN: not cuvil-opt %s -p cse --mlir-print-ir-after=csee 2>&1 | filecheck %s --check-prefix=UNKNOWN
// CHECK:     IR Dump After cse
// CHECK-NOT: canonicalize
// CHECK:     IR Dump Before dce
// CHECK:     IR Dump After dce
// UNKNOWN: error: cannot print the IR around an unknown pass 'csee'
func.func private @f()
