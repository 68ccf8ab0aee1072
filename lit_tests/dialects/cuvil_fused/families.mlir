// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// Every family has its name.
// CHECK: family = loop
// CHECK: family = contraction
// CHECK: family = convolution
// CHECK: family = pool
// CHECK: family = attention
// CHECK: family = ordering
func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) {
  cuvil_fused.kernel @k(%a = %x) into(%y) family = loop : (memref<4xf32>) into (memref<4xf32>) {
    cuvil_fused.yield %a : tensor<4xf32>
  }
  cuvil_fused.kernel @k(%a = %x) into(%y) family = contraction : (memref<4xf32>) into (memref<4xf32>) {
    cuvil_fused.yield %a : tensor<4xf32>
  }
  cuvil_fused.kernel @k(%a = %x) into(%y) family = convolution : (memref<4xf32>) into (memref<4xf32>) {
    cuvil_fused.yield %a : tensor<4xf32>
  }
  cuvil_fused.kernel @k(%a = %x) into(%y) family = pool : (memref<4xf32>) into (memref<4xf32>) {
    cuvil_fused.yield %a : tensor<4xf32>
  }
  cuvil_fused.kernel @k(%a = %x) into(%y) family = attention : (memref<4xf32>) into (memref<4xf32>) {
    cuvil_fused.yield %a : tensor<4xf32>
  }
  cuvil_fused.kernel @k(%a = %x) into(%y) family = ordering : (memref<4xf32>) into (memref<4xf32>) {
    cuvil_fused.yield %a : tensor<4xf32>
  }
  func.return
}
