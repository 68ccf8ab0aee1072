// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// A kernel on buffers writes into its destinations; its region is on values all the same.
// CHECK: cuvil_fused.kernel @relu(%a = %x) into(%y) family = loop : (memref<?xf32, #cuvil_tensor.dims<"s0">>) into (memref<?xf32, #cuvil_tensor.dims<"s0">>) {
// CHECK-NEXT:   %0 = cuvil_tensor.unary relu %a : tensor<?xf32, #cuvil_tensor.dims<"s0">>
// CHECK-NEXT:   cuvil_fused.yield %0 : tensor<?xf32, #cuvil_tensor.dims<"s0">>
func.func @main(%x: memref<?xf32, #cuvil_tensor.dims<"s0">>, %y: memref<?xf32, #cuvil_tensor.dims<"s0">>) {
  cuvil_fused.kernel @relu(%a = %x) into(%y) family = loop : (memref<?xf32, #cuvil_tensor.dims<"s0">>) into (memref<?xf32, #cuvil_tensor.dims<"s0">>) {
    %0 = cuvil_tensor.unary relu %a : tensor<?xf32, #cuvil_tensor.dims<"s0">>
    cuvil_fused.yield %0 : tensor<?xf32, #cuvil_tensor.dims<"s0">>
  }
  func.return
}
