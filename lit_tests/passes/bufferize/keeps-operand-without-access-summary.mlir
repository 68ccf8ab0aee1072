// RUN: cuvil-opt %s -p bufferize | filecheck %s
// Without a summary nothing is known of how the kernel reads its operand.
// CHECK: %0 = cuvil_fused.alloc
// CHECK: %1 = cuvil_fused.alloc
// CHECK: @middle(%a = %0) into(%1)
func.func @main(%x: tensor<4xf32>) -> tensor<f32> {
  %0 = cuvil_fused.kernel @first(%a = %x) family = loop access = <streaming> : (tensor<4xf32>) -> (tensor<4xf32>) {
    %y = cuvil_tensor.unary relu %a : tensor<4xf32>
    cuvil_fused.yield %y : tensor<4xf32>
  }
  %1 = cuvil_fused.kernel @middle(%a = %0) family = loop : (tensor<4xf32>) -> (tensor<4xf32>) {
    %y = cuvil_tensor.unary exp %a : tensor<4xf32>
    cuvil_fused.yield %y : tensor<4xf32>
  }
  %2 = cuvil_fused.kernel @last(%a = %1, %b = %1) family = loop access = <reduction, reduction> : (tensor<4xf32>, tensor<4xf32>) -> (tensor<f32>) {
    %y = cuvil_tensor.binary add %a, %b : tensor<4xf32>
    %z = cuvil_tensor.reduce add %y axes = [0] : tensor<4xf32> -> tensor<f32>
    cuvil_fused.yield %z : tensor<f32>
  }
  func.return %2 : tensor<f32>
}
