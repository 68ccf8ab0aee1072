// RUN: cuvil-run %s | filecheck %s
// Equal scores average the values; a row that the mask leaves nothing gives 0; two query heads share a key head.

func.func @main() -> (tensor<2x2x1xf32>, tensor<2x2x1xf32>, tensor<2x2x1xf32>) {
  %q = cuvil_tensor.constant dense<0.0> : tensor<2x2x1xf32>
  %k = cuvil_tensor.constant dense<[[[1.0], [2.0]]]> : tensor<1x2x1xf32>
  %v = cuvil_tensor.constant dense<[[[10.0], [20.0]]]> : tensor<1x2x1xf32>
  %m = cuvil_tensor.constant dense<[[[true, true], [false, false]], [[false, true], [true, false]]]> : tensor<2x2x2xi1>
  %0 = cuvil_tensor.attention %q, %k, %v scale = 1.0 : tensor<2x2x1xf32>, tensor<1x2x1xf32>, tensor<1x2x1xf32> -> tensor<2x2x1xf32>
  %1 = cuvil_tensor.attention %q, %k, %v causal scale = 1.0 : tensor<2x2x1xf32>, tensor<1x2x1xf32>, tensor<1x2x1xf32> -> tensor<2x2x1xf32>
  %2 = cuvil_tensor.attention %q, %k, %v mask = %m scale = 1.0 : tensor<2x2x1xf32>, tensor<1x2x1xf32>, tensor<1x2x1xf32>, tensor<2x2x2xi1> -> tensor<2x2x1xf32>
  func.return %0, %1, %2 : tensor<2x2x1xf32>, tensor<2x2x1xf32>, tensor<2x2x1xf32>
}
// CHECK{LITERAL}: result 0 : tensor<2x2x1xf32> = [[[15], [15]], [[15], [15]]]
// CHECK-NEXT{LITERAL}: result 1 : tensor<2x2x1xf32> = [[[10], [15]], [[10], [15]]]
// CHECK-NEXT{LITERAL}: result 2 : tensor<2x2x1xf32> = [[[15], [0]], [[20], [10]]]
