// RUN: cuvil-opt %s -p bufferize | filecheck %s
// The caller's inputs and the weights are read-only, dead or not.
// CHECK: %w = cuvil_fused.parameter @w
// CHECK: %0 = cuvil_fused.alloc
// CHECK: @add(%a = %x, %b = %w) into(%0)
cuvil_tensor.global @w : tensor<4xf32>
func.func @main(%x: tensor<4xf32>) -> tensor<f32> {
  %w = cuvil_tensor.parameter @w : tensor<4xf32>
  %0 = cuvil_fused.kernel @add(%a = %x, %b = %w) family = loop access = <streaming, streaming> : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>) {
    %y = cuvil_tensor.binary add %a, %b : tensor<4xf32>
    cuvil_fused.yield %y : tensor<4xf32>
  }
  %1 = cuvil_fused.kernel @sum(%a = %0) family = loop access = <reduction> : (tensor<4xf32>) -> (tensor<f32>) {
    %y = cuvil_tensor.reduce add %a axes = [0] : tensor<4xf32> -> tensor<f32>
    cuvil_fused.yield %y : tensor<f32>
  }
  func.return %1 : tensor<f32>
}
