// RUN: cuvil-run %s | filecheck %s
// The halves of the last dim are the two coordinates that turn.

func.func @main() -> tensor<4xf32> {
  %x = cuvil_tensor.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %cos = cuvil_tensor.constant dense<[0.0, 1.0, 0.0, 1.0]> : tensor<4xf32>
  %sin = cuvil_tensor.constant dense<[1.0, 0.0, 1.0, 0.0]> : tensor<4xf32>
  %0 = cuvil_tensor.rope %x, %cos, %sin : tensor<4xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
// CHECK: result 0 : tensor<4xf32> = [-3, 2, 1, 4]
