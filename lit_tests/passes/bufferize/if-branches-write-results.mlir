// RUN: cuvil-opt %s -p bufferize | filecheck %s
// RUN: cuvil-opt %s -p bufferize,plan-memory --validate -o /dev/null
// The buffer of a branch's result is made before the if; each branch writes it directly, or copies.
// CHECK: %c = memref.load %p[] : memref<i1>
// CHECK-NEXT: %0 = cuvil_fused.alloc : memref<4xf32>
// CHECK-NEXT: scf.if %c {
// CHECK-NEXT:   @relu(%a = %x) into(%0)
// CHECK: } else {
// CHECK-NEXT:   cuvil_fused.copy %x, %0 : memref<4xf32>, memref<4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: @sum(%a = %0) into(%out0)
// CHECK: cuvil_fused.free %0
func.func @main(%x: tensor<4xf32>, %p: tensor<i1>) -> tensor<f32> {
  %c = tensor.extract %p[] : tensor<i1>
  %0 = scf.if %c -> (tensor<4xf32>) {
    %1 = cuvil_fused.kernel @relu(%a = %x) family = loop access = <streaming> : (tensor<4xf32>) -> (tensor<4xf32>) {
      %y = cuvil_tensor.unary relu %a : tensor<4xf32>
      cuvil_fused.yield %y : tensor<4xf32>
    }
    scf.yield %1 : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  %2 = cuvil_fused.kernel @sum(%a = %0) family = loop access = <reduction> : (tensor<4xf32>) -> (tensor<f32>) {
    %y = cuvil_tensor.reduce add %a axes = [0] : tensor<4xf32> -> tensor<f32>
    cuvil_fused.yield %y : tensor<f32>
  }
  func.return %2 : tensor<f32>
}
