// RUN: not cuvil-run %s --random 2>&1 | filecheck %s
// The module is verified before it runs.

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: invalid-input.mlir:[[# @LINE + 1]]:8: error: cuvil_tensor.softmax: axes: axis 1 is outside [0, 1)
  %0 = cuvil_tensor.softmax %x axis = 1 : tensor<4xf32> -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
