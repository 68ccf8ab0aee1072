// RUN: cuvil-opt --split-input-file='// ====' %s | filecheck %s

// CHECK: @f
// CHECK: // -----
// CHECK: @g
func.func private @f()
// ====
func.func private @g()
