// RUN: cuvil-opt %s -p plan-memory --remarks-filter=plan-memory --verify-diagnostics
// In order of time, %c would go above %b, since the gap that %a left is too small: 256 bytes. With the largest first,
// the lower bound is met.
// expected-remark @+1 {{[analysis] plan-memory: arena planned (buffers=3, arena-bytes=192, buffer-bytes=256, lower-bound-bytes=192)}}
func.func @main() attributes {cuvil_fused.outputs = 0 : i64} {
  %a = cuvil_fused.alloc : memref<64xi8>
  %b = cuvil_fused.alloc : memref<64xi8>
  cuvil_fused.free %a : memref<64xi8>
  %c = cuvil_fused.alloc : memref<128xi8>
  cuvil_fused.free %b : memref<64xi8>
  cuvil_fused.free %c : memref<128xi8>
  func.return
}
