// RUN: cuvil-opt %s -p plan-memory --verify-roundtrip | filecheck %s
// Of two buffers in one slot the larger counts: known where it is so in the whole range, else computed. Sizes that are
// multiples of 64 are not rounded.

!a = memref<?x16xf32, #cuvil_tensor.dims<"s0", 16>>
!b = memref<?x16xf32, #cuvil_tensor.dims<"s1", 16>>

// CHECK-LABEL: func.func @unknown(
// CHECK-NEXT: %a = cuvil_fused.arena_view %arena at 0 : memref<?xi8> to
// CHECK-NEXT: %b = cuvil_fused.arena_view %arena at 0 : memref<?xi8> to
// CHECK: func.func private @unknown_arena_bytes() -> index
// CHECK: %[[A:.*]] = cuvil_tensor.size "64*s0" : index
// CHECK-NEXT: %[[B:.*]] = cuvil_tensor.size "64*s1" : index
// CHECK-NEXT: arith.maxui %[[A]], %[[B]] : index
func.func @unknown() attributes {cuvil_fused.outputs = 0 : i64,
    cuvil_tensor.symbols = {s0 = #cuvil_tensor.range<1, 512>, s1 = #cuvil_tensor.range<1, 300>}} {
  %a = cuvil_fused.alloc : !a
  cuvil_fused.free %a : !a
  %b = cuvil_fused.alloc : !b
  cuvil_fused.free %b : !b
  func.return
}

// CHECK-LABEL: func.func @known(
// CHECK-NOT: arith.maxui
// CHECK: func.func private @known_arena_bytes() -> index
// CHECK: cuvil_tensor.size "64*s0" : index
func.func @known() attributes {cuvil_fused.outputs = 0 : i64,
    cuvil_tensor.symbols = {s0 = #cuvil_tensor.range<300, 512>, s1 = #cuvil_tensor.range<1, 300>}} {
  %a = cuvil_fused.alloc : !a
  cuvil_fused.free %a : !a
  %b = cuvil_fused.alloc : !b
  cuvil_fused.free %b : !b
  func.return
}
