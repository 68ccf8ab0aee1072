// RUN: cuvil-opt %s -p bufferize | filecheck %s
// Functions without tensors, declarations and functions that are bufferized already stay as they are.
// CHECK: func.func private @declared(tensor<4xf32>)
// CHECK: func.func @scalar(%n: index) -> index {
// CHECK: func.func @done(%x: memref<4xf32>, %out0: memref<4xf32>) attributes {cuvil_fused.outputs = 1 : i64} {
func.func private @declared(tensor<4xf32>)
func.func @scalar(%n: index) -> index {
  func.return %n : index
}
func.func @done(%x: memref<4xf32>, %out0: memref<4xf32>) attributes {cuvil_fused.outputs = 1 : i64} {
  cuvil_fused.copy %x, %out0 : memref<4xf32>, memref<4xf32>
  func.return
}
