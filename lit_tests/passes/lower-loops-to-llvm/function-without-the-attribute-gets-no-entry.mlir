// RUN: cuvil-opt %s -p lower-loops-to-llvm | filecheck %s
// Only the host function, which cuvil.inputs marks, is called from outside.
// CHECK-LABEL: llvm.func @main
// CHECK-NOT: cuvil_entry
func.func @main(%x: memref<?xf32>, %y: memref<?xf32>, %arena: memref<64xi8>) {
  func.return
}
