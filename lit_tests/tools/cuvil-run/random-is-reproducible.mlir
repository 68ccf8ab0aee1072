// RUN: cuvil-run %s --random > %t.first
// RUN: cuvil-run %s --random=0 > %t.second
// RUN: diff %t.first %t.second
// RUN: cuvil-run %s --random=1 > %t.third
// RUN: not diff %t.first %t.third
// A seed gives the same numbers always; indices are in range, a variance is positive.

cuvil_tensor.global @table : tensor<7x4xf32>
cuvil_tensor.global @running_var : tensor<4xf32>
func.func @main(%i: tensor<64xi64>) -> tensor<64x4xf32> {
  %t = cuvil_tensor.parameter @table : tensor<7x4xf32>
  %v = cuvil_tensor.parameter @running_var : tensor<4xf32>
  %0 = cuvil_tensor.gather %t, %i axes = [0] : tensor<7x4xf32>, tensor<64xi64> -> tensor<64x4xf32>
  %1 = cuvil_tensor.batch_norm %0, %v, %v axis = 1 eps = 0.0 : tensor<64x4xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<64x4xf32>
  func.return %1 : tensor<64x4xf32>
}
