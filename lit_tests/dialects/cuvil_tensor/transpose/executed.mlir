// RUN: cuvil-run %s | filecheck %s
// Result dim i is source dim input_order[i].

func.func @main() -> tensor<1x2x3xi32> {
  %x = cuvil_tensor.constant dense<[[[1, 2]], [[3, 4]], [[5, 6]]]> : tensor<3x1x2xi32>
  %0 = cuvil_tensor.transpose %x input_order = [1, 2, 0] : tensor<3x1x2xi32> -> tensor<1x2x3xi32>
  func.return %0 : tensor<1x2x3xi32>
}
// CHECK{LITERAL}: result 0 : tensor<1x2x3xi32> = [[[1, 3, 5], [2, 4, 6]]]
