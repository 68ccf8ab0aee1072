// RUN: cuvil-run %s --input 'dense<[1.0, 2.0]>' | filecheck %s
// Outputs and the arena of a bufferized function are provided; memory that nothing has written is NaN.

func.func @main(%x: memref<2xf32>, %out0: memref<2xf32>, %out1: memref<2xf32>, %arena: memref<64xi8>)
    attributes {cuvil_fused.outputs = 2 : i64, cuvil_fused.arena_bytes = 64 : i64} {
  %b = cuvil_fused.arena_view %arena at 0 : memref<64xi8> to memref<2xf32>
  cuvil_fused.copy %b, %out1 : memref<2xf32>, memref<2xf32>
  cuvil_fused.kernel @double(%a = %x) into(%b) family = loop : (memref<2xf32>) into (memref<2xf32>) {
    %0 = cuvil_tensor.binary add %a, %a : tensor<2xf32>
    cuvil_fused.yield %0 : tensor<2xf32>
  }
  cuvil_fused.copy %b, %out0 : memref<2xf32>, memref<2xf32>
  func.return
}
// CHECK: result 0 : tensor<2xf32> = [2, 4]
// CHECK-NEXT: result 1 : tensor<2xf32> = [nan, nan]
