// RUN: cuvil-opt %s -p plan-memory | filecheck %s
// A buffer that is live across a loop is live in all of its body, also after its last read there: the next iteration
// reads it again.
// CHECK: %a = cuvil_fused.arena_view %arena at [[A:\d+]] :
// CHECK: scf.for
// CHECK-NEXT: cuvil_fused.copy %a, %out0
// CHECK-NOT: arena_view %arena at [[A]] :
// CHECK: %b = cuvil_fused.arena_view %arena at
func.func @main(%x: memref<16xf32>, %n: index, %out0: memref<16xf32>) attributes {cuvil_fused.outputs = 1 : i64} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %a = cuvil_fused.alloc : memref<16xf32>
  cuvil_fused.copy %x, %a : memref<16xf32>, memref<16xf32>
  scf.for %i = %zero to %n step %one {
    cuvil_fused.copy %a, %out0 : memref<16xf32>, memref<16xf32>
    %b = cuvil_fused.alloc : memref<16xf32>
    cuvil_fused.copy %out0, %b : memref<16xf32>, memref<16xf32>
    cuvil_fused.free %b : memref<16xf32>
  }
  cuvil_fused.free %a : memref<16xf32>
  func.return
}
