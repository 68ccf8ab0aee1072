// RUN: cuvil-opt %s -p cse | filecheck %s
// Equal kernels on values are one; on buffers each writes, and both stay, as do two allocs.
// CHECK-LABEL: func.func @values
// CHECK: cuvil_fused.kernel
// CHECK-NOT: cuvil_fused.kernel
// CHECK-LABEL: func.func @buffers
// CHECK: cuvil_fused.alloc
// CHECK-NEXT: cuvil_fused.alloc
// CHECK-NEXT: cuvil_fused.kernel
// CHECK: cuvil_fused.kernel
func.func @values(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = cuvil_fused.kernel @k(%a = %x) family = loop : (tensor<4xf32>) -> (tensor<4xf32>) {
    cuvil_fused.yield %a : tensor<4xf32>
  }
  %1 = cuvil_fused.kernel @k(%a = %x) family = loop : (tensor<4xf32>) -> (tensor<4xf32>) {
    cuvil_fused.yield %a : tensor<4xf32>
  }
  func.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
func.func @buffers(%x: memref<4xf32>) {
  %0 = cuvil_fused.alloc : memref<4xf32>
  %1 = cuvil_fused.alloc : memref<4xf32>
  cuvil_fused.kernel @k(%a = %x) into(%0) family = loop : (memref<4xf32>) into (memref<4xf32>) {
    cuvil_fused.yield %a : tensor<4xf32>
  }
  cuvil_fused.kernel @k(%a = %x) into(%0) family = loop : (memref<4xf32>) into (memref<4xf32>) {
    cuvil_fused.yield %a : tensor<4xf32>
  }
  cuvil_fused.free %0 : memref<4xf32>
  cuvil_fused.free %1 : memref<4xf32>
  func.return
}
