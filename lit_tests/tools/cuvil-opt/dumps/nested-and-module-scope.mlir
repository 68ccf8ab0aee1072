// RUN: cuvil-opt %s -p 'func.func(cse)' --mlir-print-ir-after-all 2>&1 >/dev/null | filecheck %s
// RUN: cuvil-opt %s -p 'func.func(cse)' --mlir-print-ir-after-all --mlir-print-ir-module-scope 2>&1 >/dev/null | filecheck %s --check-prefix=MODULE
// CHECK:      // -----// IR Dump After cse ('func.func' operation: @f) //----- //
// CHECK-NEXT: {{^}}func.func private @f()
// CHECK:      // -----// IR Dump After cse ('func.func' operation: @g) //----- //
// CHECK-NEXT: {{^}}func.func private @g()
// MODULE:      // -----// IR Dump After cse ('func.func' operation: @f) //----- //
// MODULE-NEXT: builtin.module {
func.func private @f()
func.func private @g()
