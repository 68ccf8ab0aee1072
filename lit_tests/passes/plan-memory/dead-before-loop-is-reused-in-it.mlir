// RUN: cuvil-opt %s -p plan-memory | filecheck %s
// The twin: a buffer that is dead before the loop lends its memory to the loop's body.
// CHECK: cuvil_fused.arena_bytes = 64 : i64
// CHECK: %a = cuvil_fused.arena_view %arena at 0 :
// CHECK: scf.for
// CHECK: %b = cuvil_fused.arena_view %arena at 0 :
func.func @main(%x: memref<16xf32>, %n: index, %out0: memref<16xf32>) attributes {cuvil_fused.outputs = 1 : i64} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %a = cuvil_fused.alloc : memref<16xf32>
  cuvil_fused.copy %x, %a : memref<16xf32>, memref<16xf32>
  cuvil_fused.copy %a, %out0 : memref<16xf32>, memref<16xf32>
  cuvil_fused.free %a : memref<16xf32>
  scf.for %i = %zero to %n step %one {
    %b = cuvil_fused.alloc : memref<16xf32>
    cuvil_fused.copy %out0, %b : memref<16xf32>, memref<16xf32>
    cuvil_fused.free %b : memref<16xf32>
  }
  func.return
}
