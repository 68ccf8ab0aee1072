// RUN: cuvil-opt %s -p cse,canonicalize --mlir-print-ir-after-all 2>&1 >/dev/null | filecheck %s
// RUN: cuvil-opt %s -p cse,canonicalize --print-between-passes 2>&1 >/dev/null | filecheck %s
// CHECK:      // -----// IR Dump After cse //----- //
// CHECK-NEXT: builtin.module {
// CHECK:      // -----// IR Dump After canonicalize //----- //
// CHECK-NEXT: builtin.module {
func.func private @f()
