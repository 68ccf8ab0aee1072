// RUN: not cuvil-run %s --input 7 2>&1 | filecheck %s
// The operation at fault is named and located.

func.func @main(%i: tensor<i64>) -> tensor<f32> {
  %t = cuvil_tensor.constant dense<1.0> : tensor<4xf32>
  // CHECK: operation-that-fails.mlir:[[# @LINE + 1]]:8: error: cuvil_tensor.gather: index 7 is out of bounds for axis 0 with size 4
  %0 = cuvil_tensor.gather %t, %i axes = [0] : tensor<4xf32>, tensor<i64> -> tensor<f32>
  func.return %0 : tensor<f32>
}
