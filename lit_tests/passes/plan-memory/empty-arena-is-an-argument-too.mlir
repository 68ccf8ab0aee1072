// RUN: cuvil-opt %s -p plan-memory | filecheck %s
// Every bufferized function ends in the arena, so that all are called in one way.
// CHECK: func.func @main(%x: memref<4xf32>, %out0: memref<4xf32>, %arena: memref<0xi8>) attributes {cuvil_fused.outputs = 1 : i64, cuvil_fused.arena_bytes = 0 : i64} {
func.func @main(%x: memref<4xf32>, %out0: memref<4xf32>) attributes {cuvil_fused.outputs = 1 : i64} {
  cuvil_fused.copy %x, %out0 : memref<4xf32>, memref<4xf32>
  func.return
}
