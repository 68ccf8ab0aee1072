// RUN: cuvil-opt %s -p decompose --mlir-print-debuginfo | filecheck %s
// What a composite becomes is where the composite was.

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: cuvil_tensor.unary sigmoid {{.*}} loc("model.py":7:3)
  // CHECK: cuvil_tensor.binary mul {{.*}} loc("model.py":7:3)
  %0 = cuvil_tensor.silu %x : tensor<4xf32> -> tensor<4xf32> loc("model.py":7:3)
  func.return %0 : tensor<4xf32>
}
