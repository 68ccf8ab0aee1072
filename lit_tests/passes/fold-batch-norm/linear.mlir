// RUN: cuvil-opt %s -p fold-batch-norm | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --pipeline fold-batch-norm
// A linear takes the norm of its last dim up; its own bias is scaled.
// CHECK: cuvil_tensor.linear %x, %{{.*}} : tensor<2x8xf32>, tensor<4x8xf32> -> tensor<2x4xf32>
// CHECK-NOT: cuvil_tensor.batch_norm
cuvil_tensor.global @w : tensor<4x8xf32>
cuvil_tensor.global @b : tensor<4xf32>
cuvil_tensor.global @variance : tensor<4xf32>
func.func @main(%x: tensor<2x8xf32>) -> tensor<2x4xf32> {
  %w = cuvil_tensor.parameter @w : tensor<4x8xf32>
  %b = cuvil_tensor.parameter @b : tensor<4xf32>
  %variance = cuvil_tensor.parameter @variance : tensor<4xf32>
  %1 = cuvil_tensor.linear %x, %w bias = %b : tensor<2x8xf32>, tensor<4x8xf32>, tensor<4xf32> -> tensor<2x4xf32>
  %2 = cuvil_tensor.batch_norm %1, %b, %variance axis = 1 eps = 1.0e-05 : tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<2x4xf32>
  func.return %2 : tensor<2x4xf32>
}
