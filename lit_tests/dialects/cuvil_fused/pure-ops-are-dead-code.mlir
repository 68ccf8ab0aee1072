// RUN: cuvil-opt %s -p dce | filecheck %s
// Unused weights and views vanish; what allocates, writes or frees stays, and so does an unused kernel in destination style.
// CHECK: func.func @main
// CHECK-NEXT: %0 = cuvil_fused.alloc
// CHECK-NEXT: cuvil_fused.kernel
// CHECK-NOT: cuvil_fused.parameter
// CHECK-NOT: cuvil_fused.arena_view
// CHECK: cuvil_fused.free %0
cuvil_tensor.global @w : tensor<4xf32>
func.func @main(%x: memref<4xf32>, %arena: memref<64xi8>) {
  %0 = cuvil_fused.alloc : memref<4xf32>
  cuvil_fused.kernel @k(%a = %x) into(%0) family = loop : (memref<4xf32>) into (memref<4xf32>) {
    cuvil_fused.yield %a : tensor<4xf32>
  }
  %1 = cuvil_fused.parameter @w : memref<4xf32>
  %2 = cuvil_fused.arena_view %arena at 0 : memref<64xi8> to memref<4xf32>
  cuvil_fused.free %0 : memref<4xf32>
  func.return
}
