// RUN: cuvil-opt %s -p bufferize | filecheck %s
// What is said of arguments and results is said of the buffers that stand for them.
// CHECK: func.func @main(%x: memref<4xf32> {cuvil.name = "x"}, %out0: memref<4xf32> {cuvil.name = "y"})
func.func @main(%x: tensor<4xf32> {cuvil.name = "x"}) -> (tensor<4xf32> {cuvil.name = "y"}) {
  func.return %x : tensor<4xf32>
}
