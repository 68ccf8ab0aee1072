// RUN: cuvil-run %s | filecheck %s
// What pack added is dropped.

func.func @main() -> tensor<2x3xi32> {
  %x = cuvil_tensor.constant dense<[[[1, 2], [4, 5]], [[3, 9], [6, 9]]]> : tensor<2x2x2xi32>
  %0 = cuvil_tensor.unpack %x axes = [1] tiles = [2] input_order = [1, 0] : tensor<2x2x2xi32> -> tensor<2x3xi32>
  func.return %0 : tensor<2x3xi32>
}
// CHECK{LITERAL}: result 0 : tensor<2x3xi32> = [[1, 2, 3], [4, 5, 6]]
