// RUN: cuvil-opt %s -p plan-memory | filecheck %s
// The twin: functions that are not bufferized, or planned already, get no arena.
// CHECK: func.func @kernel(%x: memref<4xf32>) {
// CHECK: func.func @planned(%x: memref<4xf32>, %arena: memref<0xi8>) attributes
func.func @kernel(%x: memref<4xf32>) {
  func.return
}
func.func @planned(%x: memref<4xf32>, %arena: memref<0xi8>) attributes {cuvil_fused.outputs = 0 : i64, cuvil_fused.arena_bytes = 0 : i64} {
  func.return
}
