// RUN: cuvil-run %s | filecheck %s
// x times its sigmoid.

func.func @main() -> tensor<4xf32> {
  %x = cuvil_tensor.constant dense<[-1.0, 0.0, 2.0, 100.0]> : tensor<4xf32>
  %0 = cuvil_tensor.silu %x : tensor<4xf32> -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
// CHECK: result 0 : tensor<4xf32> = [-0.268941, 0, 1.76159, 100]
