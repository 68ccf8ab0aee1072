// RUN: cuvil-opt --split-input-file %s | filecheck %s
// RUN: cuvil-opt --split-input-file --output-split-marker='// next' %s | filecheck %s --check-prefix=MARKER
// Each part is a module of its own: the same symbol in both is no clash.

// CHECK: func.func private @f()
// CHECK: // -----
// CHECK: func.func private @f()
// MARKER: // next
func.func private @f()
// -----
func.func private @f()
