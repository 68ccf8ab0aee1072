// RUN: cuvil-opt %s -p bufferize | filecheck %s
// A kernel whose result is returned writes straight into the output argument.
// CHECK: func.func @main(%x: memref<4xf32>, %out0: memref<4xf32>) attributes {cuvil_fused.outputs = 1 : i64} {
// CHECK-NEXT: cuvil_fused.kernel @relu(%a = %x) into(%out0) family = loop access = <streaming> : (memref<4xf32>) into (memref<4xf32>) {
// CHECK-NEXT:   %y = cuvil_tensor.unary relu %a : tensor<4xf32>
// CHECK-NEXT:   cuvil_fused.yield %y : tensor<4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = cuvil_fused.kernel @relu(%a = %x) family = loop access = <streaming> : (tensor<4xf32>) -> (tensor<4xf32>) {
    %y = cuvil_tensor.unary relu %a : tensor<4xf32>
    cuvil_fused.yield %y : tensor<4xf32>
  }
  func.return %0 : tensor<4xf32>
}
