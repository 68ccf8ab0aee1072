// RUN: cuvil-opt %s -p hoist-parameters | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --pipeline hoist-parameters --tolerance 0
// What depends on weights alone becomes a global with an initializer; equal computations share one.
// CHECK: cuvil_tensor.global @w.transpose : tensor<8x4xf32> {
// CHECK: cuvil_tensor.init_yield
// CHECK-NOT: cuvil_tensor.global
// CHECK: func.func @main
// CHECK-COUNT-2: cuvil_tensor.parameter @w.transpose
// CHECK-NOT: cuvil_tensor.transpose
cuvil_tensor.global @w : tensor<4x8xf32>
func.func @main(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %w = cuvil_tensor.parameter @w : tensor<4x8xf32>
  %1 = cuvil_tensor.transpose %w input_order = [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  %2 = cuvil_tensor.transpose %w input_order = [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  %y = cuvil_tensor.binary add %x, %2 : tensor<8x4xf32>
  %z = cuvil_tensor.binary mul %x, %1 : tensor<8x4xf32>
  %3 = cuvil_tensor.binary sub %y, %z : tensor<8x4xf32>
  func.return %3 : tensor<8x4xf32>
}
