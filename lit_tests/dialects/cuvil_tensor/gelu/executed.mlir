// RUN: cuvil-run %s | filecheck %s
// Exact, and by tanh.

func.func @main() -> (tensor<3xf32>, tensor<3xf32>) {
  %x = cuvil_tensor.constant dense<[-1.0, 0.0, 2.0]> : tensor<3xf32>
  %0 = cuvil_tensor.gelu %x approximate = erf : tensor<3xf32> -> tensor<3xf32>
  %1 = cuvil_tensor.gelu %x approximate = tanh : tensor<3xf32> -> tensor<3xf32>
  func.return %0, %1 : tensor<3xf32>, tensor<3xf32>
}
// CHECK: result 0 : tensor<3xf32> = [-0.158655, 0, 1.9545]
// CHECK-NEXT: result 1 : tensor<3xf32> = [-0.158808, 0, 1.9546]
