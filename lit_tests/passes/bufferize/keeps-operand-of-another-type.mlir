// RUN: cuvil-opt %s -p bufferize | filecheck %s
// A buffer of another element type is not reused in place, even if it is as large.
// CHECK: %0 = cuvil_fused.alloc : memref<4xf32>
// CHECK: %1 = cuvil_fused.alloc : memref<4xi32>
// CHECK: @cast(%a = %0) into(%1)
func.func @main(%x: tensor<4xf32>) -> tensor<i32> {
  %0 = cuvil_fused.kernel @relu(%a = %x) family = loop access = <streaming> : (tensor<4xf32>) -> (tensor<4xf32>) {
    %y = cuvil_tensor.unary relu %a : tensor<4xf32>
    cuvil_fused.yield %y : tensor<4xf32>
  }
  %1 = cuvil_fused.kernel @cast(%a = %0) family = loop access = <streaming> : (tensor<4xf32>) -> (tensor<4xi32>) {
    %y = cuvil_tensor.cast %a : tensor<4xf32> -> tensor<4xi32>
    cuvil_fused.yield %y : tensor<4xi32>
  }
  %2 = cuvil_fused.kernel @sum(%a = %1) family = loop access = <reduction> : (tensor<4xi32>) -> (tensor<i32>) {
    %y = cuvil_tensor.reduce add %a axes = [0] : tensor<4xi32> -> tensor<i32>
    cuvil_fused.yield %y : tensor<i32>
  }
  func.return %2 : tensor<i32>
}
