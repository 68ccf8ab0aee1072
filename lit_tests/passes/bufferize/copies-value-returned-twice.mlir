// RUN: cuvil-opt %s -p bufferize | filecheck %s
// RUN: cuvil-opt %s -p bufferize,plan-memory --validate -o /dev/null
// Only one output can be written directly: the other is a copy of it.
// CHECK: @relu(%a = %x) into(%out0)
// CHECK: cuvil_fused.copy %out0, %out1 : memref<4xf32>, memref<4xf32>
// CHECK-NEXT: func.return
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = cuvil_fused.kernel @relu(%a = %x) family = loop access = <streaming> : (tensor<4xf32>) -> (tensor<4xf32>) {
    %y = cuvil_tensor.unary relu %a : tensor<4xf32>
    cuvil_fused.yield %y : tensor<4xf32>
  }
  func.return %0, %0 : tensor<4xf32>, tensor<4xf32>
}
