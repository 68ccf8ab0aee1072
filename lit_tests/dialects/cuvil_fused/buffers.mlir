// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// Buffers: alloc, copy, free; weights by symbol.
// CHECK: %0 = cuvil_fused.alloc : memref<4x8xf32>
// CHECK-NEXT: %1 = cuvil_fused.parameter @w : memref<4x8xf32>
// CHECK-NEXT: cuvil_fused.copy %1, %0 : memref<4x8xf32>, memref<4x8xf32>
// CHECK-NEXT: cuvil_fused.free %0 : memref<4x8xf32>
cuvil_tensor.global @w : tensor<4x8xf32>
func.func @main() {
  %0 = cuvil_fused.alloc : memref<4x8xf32>
  %1 = cuvil_fused.parameter @w : memref<4x8xf32>
  cuvil_fused.copy %1, %0 : memref<4x8xf32>, memref<4x8xf32>
  cuvil_fused.free %0 : memref<4x8xf32>
  func.return
}
