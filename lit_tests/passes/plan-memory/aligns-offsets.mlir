// RUN: cuvil-opt %s -p plan-memory | filecheck %s
// RUN: cuvil-opt %s -p plan-memory{alignment=4096} | filecheck %s --check-prefix=PAGES
// Every buffer starts at a multiple of the alignment, whatever its size.
// CHECK: cuvil_fused.arena_bytes = 128 : i64
// CHECK: %b = cuvil_fused.arena_view %arena at 64 : memref<128xi8> to memref<3xi8>
// PAGES: cuvil_fused.arena_bytes = 8192 : i64
// PAGES: %b = cuvil_fused.arena_view %arena at 4096 : memref<8192xi8> to memref<3xi8>
func.func @main() attributes {cuvil_fused.outputs = 0 : i64} {
  %a = cuvil_fused.alloc : memref<3xi8>
  %b = cuvil_fused.alloc : memref<3xi8>
  cuvil_fused.copy %a, %b : memref<3xi8>, memref<3xi8>
  cuvil_fused.free %a : memref<3xi8>
  cuvil_fused.free %b : memref<3xi8>
  func.return
}
