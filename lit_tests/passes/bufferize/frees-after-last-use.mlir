// RUN: cuvil-opt %s -p bufferize | filecheck %s
// A buffer lives from just before the kernel that writes it until just after the last one that reads it.
// CHECK: %0 = cuvil_fused.alloc : memref<4x2xf32>
// CHECK-NEXT: @first(%a = %x) into(%0)
// CHECK: %1 = cuvil_fused.alloc : memref<4xf32>
// CHECK-NEXT: @second(%a = %0) into(%1)
// CHECK: }
// CHECK-NEXT: cuvil_fused.free %0 : memref<4x2xf32>
// CHECK-NEXT: @third(%a = %1) into(%out0)
// CHECK: }
// CHECK-NEXT: cuvil_fused.free %1 : memref<4xf32>
// CHECK-NEXT: func.return
func.func @main(%x: tensor<2x4xf32>) -> tensor<f32> {
  %0 = cuvil_fused.kernel @first(%a = %x) family = loop access = <movement> : (tensor<2x4xf32>) -> (tensor<4x2xf32>) {
    %t = cuvil_tensor.transpose %a input_order = [1, 0] : tensor<2x4xf32> -> tensor<4x2xf32>
    cuvil_fused.yield %t : tensor<4x2xf32>
  }
  %1 = cuvil_fused.kernel @second(%a = %0) family = loop access = <reduction> : (tensor<4x2xf32>) -> (tensor<4xf32>) {
    %r = cuvil_tensor.reduce max %a axes = [1] : tensor<4x2xf32> -> tensor<4xf32>
    cuvil_fused.yield %r : tensor<4xf32>
  }
  %2 = cuvil_fused.kernel @third(%a = %1) family = loop access = <reduction> : (tensor<4xf32>) -> (tensor<f32>) {
    %r = cuvil_tensor.reduce max %a axes = [0] : tensor<4xf32> -> tensor<f32>
    cuvil_fused.yield %r : tensor<f32>
  }
  func.return %2 : tensor<f32>
}
