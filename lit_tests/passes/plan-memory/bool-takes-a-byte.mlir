// RUN: cuvil-opt %s -p plan-memory | filecheck %s
// A tensor of bools is stored a byte each: 65 of them need two lines.
// CHECK: cuvil_fused.arena_bytes = 128 : i64
func.func @main() attributes {cuvil_fused.outputs = 0 : i64} {
  %a = cuvil_fused.alloc : memref<65xi1>
  cuvil_fused.free %a : memref<65xi1>
  func.return
}
