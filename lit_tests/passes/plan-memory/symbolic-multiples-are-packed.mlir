// RUN: cuvil-opt %s -p plan-memory --validate | filecheck %s
// Sizes that are multiples of 64*s0 are packed as 2, 1 and 1 would be: %b and %c lie beside each other where %a was.

!a = memref<?x32xf32, #cuvil_tensor.dims<"s0", 32>>
!b = memref<?x16xf32, #cuvil_tensor.dims<"s0", 16>>

func.func @main(%x: !b, %out0: !b)
    attributes {cuvil_fused.outputs = 1 : i64, cuvil_tensor.symbols = {s0 = #cuvil_tensor.range<1, 512>}} {
  %a = cuvil_fused.alloc : !a
  cuvil_fused.free %a : !a
  %b = cuvil_fused.alloc : !b
  %c = cuvil_fused.alloc : !b
  cuvil_fused.copy %x, %b : !b, !b
  cuvil_fused.copy %b, %c : !b, !b
  cuvil_fused.copy %c, %out0 : !b, !b
  cuvil_fused.free %b : !b
  cuvil_fused.free %c : !b
  func.return
}
// CHECK: %[[HALF:.*]] = cuvil_tensor.size "64*s0" : index
// CHECK: %a = cuvil_fused.arena_view %arena at 0 : memref<?xi8> to
// CHECK: %b = cuvil_fused.arena_view %arena at 0 : memref<?xi8> to
// CHECK: %c = cuvil_fused.arena_view %arena at 0 + %[[HALF]] : memref<?xi8> to
// CHECK: func.func private @main_arena_bytes() -> index
// CHECK: cuvil_tensor.size "128*s0" : index
