// RUN: cuvil-opt %s -p bufferize | filecheck %s
// RUN: cuvil-opt %s -p bufferize{in-place=false} | filecheck %s --check-prefix=APART
// RUN: cuvil-opt %s -p bufferize,plan-memory --validate -o /dev/null
// An element-wise kernel may write over an operand that dies at it.
// CHECK: %0 = cuvil_fused.alloc
// CHECK: @exp(%a = %0) into(%0)
// CHECK-NOT: cuvil_fused.free
// CHECK: @sum(%a = %0) into(%out0)
// CHECK: cuvil_fused.free %0

// APART: %0 = cuvil_fused.alloc
// APART: %1 = cuvil_fused.alloc
// APART: @exp(%a = %0) into(%1)
func.func @main(%x: tensor<4xf32>) -> tensor<f32> {
  %0 = cuvil_fused.kernel @relu(%a = %x) family = loop access = <streaming> : (tensor<4xf32>) -> (tensor<4xf32>) {
    %y = cuvil_tensor.unary relu %a : tensor<4xf32>
    cuvil_fused.yield %y : tensor<4xf32>
  }
  %1 = cuvil_fused.kernel @exp(%a = %0) family = loop access = <streaming> : (tensor<4xf32>) -> (tensor<4xf32>) {
    %y = cuvil_tensor.unary exp %a : tensor<4xf32>
    cuvil_fused.yield %y : tensor<4xf32>
  }
  %2 = cuvil_fused.kernel @sum(%a = %1) family = loop access = <reduction> : (tensor<4xf32>) -> (tensor<f32>) {
    %y = cuvil_tensor.reduce add %a axes = [0] : tensor<4xf32> -> tensor<f32>
    cuvil_fused.yield %y : tensor<f32>
  }
  func.return %2 : tensor<f32>
}
