// RUN: cuvil-run %s | filecheck %s
// In any numeric type.

func.func @main() -> (tensor<2x3xi64>, tensor<3xf16>) {
  %0 = cuvil_tensor.iota axis = 1 : tensor<2x3xi64>
  %1 = cuvil_tensor.iota axis = 0 : tensor<3xf16>
  func.return %0, %1 : tensor<2x3xi64>, tensor<3xf16>
}
// CHECK{LITERAL}: result 0 : tensor<2x3xi64> = [[0, 1, 2], [0, 1, 2]]
// CHECK-NEXT: result 1 : tensor<3xf16> = [0, 1, 2]
