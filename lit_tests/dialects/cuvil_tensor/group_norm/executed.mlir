// RUN: cuvil-run %s | filecheck %s
// Two groups of one channel each, then one group of both; scale and shift are the channels'.

func.func @main() -> (tensor<1x2x2xf32>, tensor<1x2x2xf32>) {
  %x = cuvil_tensor.constant dense<[[[1.0, 3.0], [5.0, 7.0]]]> : tensor<1x2x2xf32>
  %w = cuvil_tensor.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = cuvil_tensor.constant dense<[0.0, 1.0]> : tensor<2xf32>
  %0 = cuvil_tensor.group_norm %x weight = %w bias = %b groups = 2 eps = 0.0 : tensor<1x2x2xf32>, tensor<2xf32>, tensor<2xf32> -> tensor<1x2x2xf32>
  %1 = cuvil_tensor.group_norm %x groups = 1 eps = 4.0 : tensor<1x2x2xf32> -> tensor<1x2x2xf32>
  func.return %0, %1 : tensor<1x2x2xf32>, tensor<1x2x2xf32>
}
// CHECK{LITERAL}: result 0 : tensor<1x2x2xf32> = [[[-1, 1], [-1, 3]]]
// CHECK-NEXT{LITERAL}: result 1 : tensor<1x2x2xf32> = [[[-1, -0.333333], [0.333333, 1]]]
