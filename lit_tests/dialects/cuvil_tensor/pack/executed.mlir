// RUN: cuvil-run %s | filecheck %s
// The last tile is filled up with zeros.

func.func @main() -> (tensor<2x2x2xi32>, tensor<1x2x2x2xi32>) {
  %x = cuvil_tensor.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %0 = cuvil_tensor.pack %x axes = [1] tiles = [2] input_order = [1, 0] : tensor<2x3xi32> -> tensor<2x2x2xi32>
  %1 = cuvil_tensor.pack %x axes = [1, 0] tiles = [2, 2] input_order = [0, 1] : tensor<2x3xi32> -> tensor<1x2x2x2xi32>
  func.return %0, %1 : tensor<2x2x2xi32>, tensor<1x2x2x2xi32>
}
// CHECK{LITERAL}: result 0 : tensor<2x2x2xi32> = [[[1, 2], [4, 5]], [[3, 0], [6, 0]]]
// CHECK-NEXT{LITERAL}: result 1 : tensor<1x2x2x2xi32> = [[[[1, 4], [2, 5]], [[3, 6], [0, 0]]]]
