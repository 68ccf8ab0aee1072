// RUN: cuvil-opt %s -p plan-memory | filecheck %s
// RUN: cuvil-run %s --random --pipeline plan-memory --compare --no-print | filecheck %s --check-prefix=SAME
// Only one branch runs: the buffers of the two share memory.
// CHECK: cuvil_fused.arena_bytes = 64 : i64
// CHECK: %a = cuvil_fused.arena_view %arena at 0 :
// CHECK: } else {
// CHECK: %b = cuvil_fused.arena_view %arena at 0 :
// SAME: comparison 0 agrees exactly
func.func @main(%x: memref<16xf32>, %c: i1, %out0: memref<16xf32>) attributes {cuvil_fused.outputs = 1 : i64} {
  scf.if %c {
    %a = cuvil_fused.alloc : memref<16xf32>
    cuvil_fused.copy %x, %a : memref<16xf32>, memref<16xf32>
    cuvil_fused.copy %a, %out0 : memref<16xf32>, memref<16xf32>
    cuvil_fused.free %a : memref<16xf32>
  } else {
    %b = cuvil_fused.alloc : memref<16xf32>
    cuvil_fused.copy %x, %b : memref<16xf32>, memref<16xf32>
    cuvil_fused.copy %b, %out0 : memref<16xf32>, memref<16xf32>
    cuvil_fused.free %b : memref<16xf32>
  }
  func.return
}
