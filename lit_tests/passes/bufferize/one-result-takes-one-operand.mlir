// RUN: cuvil-opt %s -p bufferize | filecheck %s
// RUN: cuvil-opt %s -p bufferize,plan-memory --validate -o /dev/null
// Two results that follow from different operands may each take one; an operand that both follow from stays.
// CHECK-LABEL: func.func @separate
// CHECK: @two(%a = %p, %b = %q) into(%p, %q)
// CHECK-LABEL: func.func @entangled
// CHECK: @two(%a = %p, %b = %q) into(%r, %q)
func.func @separate(%x: tensor<4xf32>) -> tensor<f32> {
  %p, %q = cuvil_fused.kernel @make(%a = %x) family = loop access = <streaming> : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %y = cuvil_tensor.unary relu %a : tensor<4xf32>
    %z = cuvil_tensor.unary neg %a : tensor<4xf32>
    cuvil_fused.yield %y, %z : tensor<4xf32>, tensor<4xf32>
  }
  %r, %s = cuvil_fused.kernel @two(%a = %p, %b = %q) family = loop access = <streaming, streaming> : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %y = cuvil_tensor.unary exp %a : tensor<4xf32>
    %z = cuvil_tensor.unary exp %b : tensor<4xf32>
    cuvil_fused.yield %y, %z : tensor<4xf32>, tensor<4xf32>
  }
  %t = cuvil_fused.kernel @sum(%a = %r, %b = %s) family = loop access = <reduction, reduction> : (tensor<4xf32>, tensor<4xf32>) -> (tensor<f32>) {
    %y = cuvil_tensor.binary add %a, %b : tensor<4xf32>
    %z = cuvil_tensor.reduce add %y axes = [0] : tensor<4xf32> -> tensor<f32>
    cuvil_fused.yield %z : tensor<f32>
  }
  func.return %t : tensor<f32>
}
func.func @entangled(%x: tensor<4xf32>) -> tensor<f32> {
  %p, %q = cuvil_fused.kernel @make(%a = %x) family = loop access = <streaming> : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %y = cuvil_tensor.unary relu %a : tensor<4xf32>
    %z = cuvil_tensor.unary neg %a : tensor<4xf32>
    cuvil_fused.yield %y, %z : tensor<4xf32>, tensor<4xf32>
  }
  %r, %s = cuvil_fused.kernel @two(%a = %p, %b = %q) family = loop access = <streaming, streaming> : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %y = cuvil_tensor.unary exp %a : tensor<4xf32>
    %z = cuvil_tensor.binary add %a, %b : tensor<4xf32>
    cuvil_fused.yield %y, %z : tensor<4xf32>, tensor<4xf32>
  }
  %t = cuvil_fused.kernel @sum(%a = %r, %b = %s) family = loop access = <reduction, reduction> : (tensor<4xf32>, tensor<4xf32>) -> (tensor<f32>) {
    %y = cuvil_tensor.binary add %a, %b : tensor<4xf32>
    %z = cuvil_tensor.reduce add %y axes = [0] : tensor<4xf32> -> tensor<f32>
    cuvil_fused.yield %z : tensor<f32>
  }
  func.return %t : tensor<f32>
}
