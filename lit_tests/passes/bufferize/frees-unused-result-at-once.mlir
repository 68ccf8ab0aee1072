// RUN: cuvil-opt %s -p bufferize | filecheck %s
// A result that nothing uses needs memory while its kernel runs, and no longer.
// CHECK: @two(%a = %x) into(%out0, %unused)
// CHECK: }
// CHECK-NEXT: cuvil_fused.free %unused : memref<4xf32>
// CHECK-NEXT: func.return
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %used, %unused = cuvil_fused.kernel @two(%a = %x) family = loop access = <streaming> : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %y = cuvil_tensor.unary relu %a : tensor<4xf32>
    %z = cuvil_tensor.unary neg %a : tensor<4xf32>
    cuvil_fused.yield %y, %z : tensor<4xf32>, tensor<4xf32>
  }
  func.return %used : tensor<4xf32>
}
