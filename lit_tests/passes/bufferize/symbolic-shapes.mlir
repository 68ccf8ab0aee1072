// RUN: cuvil-opt %s -p bufferize | filecheck %s
// Symbolic dims travel into the buffers' types.
// CHECK: %0 = cuvil_fused.alloc : memref<?xf32, #cuvil_tensor.dims<"s0">>
func.func @main(%x: tensor<?xf32, #cuvil_tensor.dims<"s0">>) -> tensor<f32> {
  %0 = cuvil_fused.kernel @k(%a = %x) family = loop access = <streaming> : (tensor<?xf32, #cuvil_tensor.dims<"s0">>) -> (tensor<?xf32, #cuvil_tensor.dims<"s0">>) {
    %y = cuvil_tensor.unary relu %a : tensor<?xf32, #cuvil_tensor.dims<"s0">>
    cuvil_fused.yield %y : tensor<?xf32, #cuvil_tensor.dims<"s0">>
  }
  %1 = cuvil_fused.kernel @r(%a = %0) family = loop access = <reduction> : (tensor<?xf32, #cuvil_tensor.dims<"s0">>) -> (tensor<f32>) {
    %y = cuvil_tensor.reduce add %a axes = [0] : tensor<?xf32, #cuvil_tensor.dims<"s0">> -> tensor<f32>
    cuvil_fused.yield %y : tensor<f32>
  }
  func.return %1 : tensor<f32>
}
