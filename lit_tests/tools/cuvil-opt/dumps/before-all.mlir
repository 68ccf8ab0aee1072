// RUN: cuvil-opt %s -p cse,canonicalize --mlir-print-ir-before-all 2>&1 >/dev/null | filecheck %s
// CHECK: // -----// IR Dump Before cse //----- //
// CHECK: // -----// IR Dump Before canonicalize //----- //
func.func private @f()
