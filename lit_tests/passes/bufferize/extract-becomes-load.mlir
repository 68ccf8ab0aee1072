// RUN: cuvil-opt %s -p bufferize | filecheck %s
// Scalars come out of tensors by loads; scalar arguments and results stay.
// CHECK: func.func @main(%x: memref<i1>, %v: memref<4xi64>, %i: index, %out0: memref<i1>) -> i64
// CHECK: %0 = memref.load %v[%i] : memref<4xi64>
// CHECK: func.return %0 : i64
func.func @main(%x: tensor<i1>, %v: tensor<4xi64>, %i: index) -> (tensor<i1>, i64) {
  %0 = tensor.extract %v[%i] : tensor<4xi64>
  func.return %x, %0 : tensor<i1>, i64
}
