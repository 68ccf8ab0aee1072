// RUN: cuvil-opt --split-input-file %s | filecheck %s
// The header of an IR dump starts with the marker, but does not split: its comment would become two modules.

// CHECK: func.func private @f()
// CHECK-NOT: // -----
// CHECK: func.func private @g()
func.func private @f()
// -----// IR Dump After cse //----- //
func.func private @g()
