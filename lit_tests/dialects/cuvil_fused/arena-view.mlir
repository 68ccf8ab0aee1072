// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// Views of the arena may overlap, and end where it ends.
// CHECK: %0 = cuvil_fused.arena_view %arena at 0 : memref<192xi8> to memref<4x8xf32>
// CHECK-NEXT: %1 = cuvil_fused.arena_view %arena at 64 : memref<192xi8> to memref<32xf32>
// CHECK-NEXT: %2 = cuvil_fused.arena_view %arena at 128 : memref<192xi8> to memref<64xi1>
func.func @main(%arena: memref<192xi8>) {
  %0 = cuvil_fused.arena_view %arena at 0 : memref<192xi8> to memref<4x8xf32>
  %1 = cuvil_fused.arena_view %arena at 64 : memref<192xi8> to memref<32xf32>
  %2 = cuvil_fused.arena_view %arena at 128 : memref<192xi8> to memref<64xi1>
  func.return
}

// An offset may have a part that only running tells.
// CHECK: func.func @symbolic(%arena: memref<?xi8>)
// CHECK: = cuvil_fused.arena_view %arena at 64 + %0 : memref<?xi8> to memref<?x4xf32, #cuvil_tensor.dims<"s0", 4>>
func.func @symbolic(%arena: memref<?xi8>) {
  %0 = cuvil_tensor.size "64*s0" : index
  %1 = cuvil_fused.arena_view %arena at 64 + %0 : memref<?xi8> to memref<?x4xf32, #cuvil_tensor.dims<"s0", 4>>
  func.return
}
