// RUN: cuvil-opt %s -p plan-memory | filecheck %s
// RUN: cuvil-opt %s -p plan-memory{reuse=false} | filecheck %s --check-prefix=APART
// RUN: cuvil-run %s --random --pipeline plan-memory --compare --no-print | filecheck %s --check-prefix=SAME
// Buffers that are never live at once share memory; the arena is the last argument.
// CHECK: %out0: memref<16xf32>, %arena: memref<128xi8>) attributes {cuvil_fused.outputs = 1 : i64, cuvil_fused.arena_bytes = 128 : i64}
// CHECK-NEXT: %a = cuvil_fused.arena_view %arena at 0 : memref<128xi8> to memref<16xf32>
// CHECK: %b = cuvil_fused.arena_view %arena at 64 :
// CHECK: %c = cuvil_fused.arena_view %arena at 0 :
// CHECK-NOT: cuvil_fused.free

// APART: cuvil_fused.arena_bytes = 192 : i64
// APART: %a = cuvil_fused.arena_view %arena at 0 :
// APART: %b = cuvil_fused.arena_view %arena at 64 :
// APART: %c = cuvil_fused.arena_view %arena at 128 :
// SAME: comparison 0 agrees exactly
func.func @main(%x: memref<16xf32>, %out0: memref<16xf32>) attributes {cuvil_fused.outputs = 1 : i64} {
  %a = cuvil_fused.alloc : memref<16xf32>
  cuvil_fused.copy %x, %a : memref<16xf32>, memref<16xf32>
  %b = cuvil_fused.alloc : memref<16xf32>
  cuvil_fused.copy %a, %b : memref<16xf32>, memref<16xf32>
  cuvil_fused.free %a : memref<16xf32>
  %c = cuvil_fused.alloc : memref<16xf32>
  cuvil_fused.copy %b, %c : memref<16xf32>, memref<16xf32>
  cuvil_fused.free %b : memref<16xf32>
  cuvil_fused.copy %c, %out0 : memref<16xf32>, memref<16xf32>
  cuvil_fused.free %c : memref<16xf32>
  func.return
}
