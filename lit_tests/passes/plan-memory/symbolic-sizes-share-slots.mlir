// RUN: cuvil-opt %s -p plan-memory --validate --verify-roundtrip | filecheck %s
// RUN: cuvil-opt %s -p "plan-memory{reuse=false}" | filecheck %s --check-prefix=APART
// %a and %c, never live at once, share a slot; the slot of %b, which lives longest, comes first. A function gives the size.

!m = memref<?x2xf32, #cuvil_tensor.dims<"s0", 2>>

func.func @main(%x: !m, %out0: !m)
    attributes {cuvil_fused.outputs = 1 : i64, cuvil_tensor.symbols = {s0 = #cuvil_tensor.range<1, 512>}} {
  %z = cuvil_fused.alloc : memref<4xf32>
  %a = cuvil_fused.alloc : !m
  %b = cuvil_fused.alloc : !m
  cuvil_fused.copy %x, %a : !m, !m
  cuvil_fused.copy %a, %b : !m, !m
  cuvil_fused.free %a : !m
  %c = cuvil_fused.alloc : !m
  cuvil_fused.copy %b, %c : !m, !m
  cuvil_fused.copy %c, %out0 : !m, !m
  cuvil_fused.free %b : !m
  cuvil_fused.free %c : !m
  cuvil_fused.free %z : memref<4xf32>
  func.return
}
// CHECK: func.func @main({{.*}}, %arena: memref<?xi8>) attributes {{.*}} cuvil_fused.arena_bytes = @main_arena_bytes}
// CHECK-NEXT: %[[SLOT:.*]] = cuvil_tensor.size "64*((8*s0 + 63) floordiv 64)" : index
// CHECK-NEXT: %z = cuvil_fused.arena_view %arena at 0 : memref<?xi8> to memref<4xf32>
// CHECK-NEXT: %a = cuvil_fused.arena_view %arena at 64 + %[[SLOT]] : memref<?xi8> to
// CHECK-NEXT: %b = cuvil_fused.arena_view %arena at 64 : memref<?xi8> to
// CHECK: %c = cuvil_fused.arena_view %arena at 64 + %[[SLOT]] : memref<?xi8> to
// CHECK: func.func private @main_arena_bytes() -> index
// CHECK-SAME: cuvil_tensor.symbols = {s0 = #cuvil_tensor.range<1, 512>}
// CHECK-NEXT: %[[KNOWN:.*]] = arith.constant 64 : index
// CHECK-NEXT: %[[SLOTS:.*]] = cuvil_tensor.size "128*((8*s0 + 63) floordiv 64)" : index
// CHECK-NEXT: %[[ALL:.*]] = arith.addi %[[KNOWN]], %[[SLOTS]] : index
// CHECK-NEXT: func.return %[[ALL]] : index

// APART: cuvil_tensor.size "192*((8*s0 + 63) floordiv 64)" : index
