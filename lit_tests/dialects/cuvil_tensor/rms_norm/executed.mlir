// RUN: cuvil-run %s | filecheck %s
// The mean is not subtracted.

func.func @main() -> tensor<1x4xf32> {
  %x = cuvil_tensor.constant dense<[[3.0, 4.0, 0.0, 0.0]]> : tensor<1x4xf32>
  %w = cuvil_tensor.constant dense<[1.0, 2.0, 1.0, 1.0]> : tensor<4xf32>
  %0 = cuvil_tensor.rms_norm %x weight = %w axes = [1] eps = 0.0 : tensor<1x4xf32>, tensor<4xf32> -> tensor<1x4xf32>
  func.return %0 : tensor<1x4xf32>
}
// CHECK{LITERAL}: result 0 : tensor<1x4xf32> = [[1.2, 3.2, 0, 0]]
