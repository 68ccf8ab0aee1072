// RUN: cuvil-opt %s -p bufferize | filecheck %s
// RUN: cuvil-opt %s -p bufferize,plan-memory --validate -o /dev/null
// A buffer from outside that one branch alone reads is freed after the if, so that it is freed on either way.
// CHECK: scf.if %c {
// CHECK: @neg(%a = %0) into(%out0)
// CHECK-NOT: cuvil_fused.free
// CHECK: } else {
// CHECK-NEXT: cuvil_fused.copy %x, %out0
// CHECK-NEXT: }
// CHECK-NEXT: cuvil_fused.free %0
func.func @main(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  %0 = cuvil_fused.kernel @relu(%a = %x) family = loop access = <streaming> : (tensor<4xf32>) -> (tensor<4xf32>) {
    %y = cuvil_tensor.unary relu %a : tensor<4xf32>
    cuvil_fused.yield %y : tensor<4xf32>
  }
  %1 = scf.if %c -> (tensor<4xf32>) {
    %2 = cuvil_fused.kernel @neg(%a = %0) family = loop access = <streaming> : (tensor<4xf32>) -> (tensor<4xf32>) {
      %y = cuvil_tensor.unary neg %a : tensor<4xf32>
      cuvil_fused.yield %y : tensor<4xf32>
    }
    scf.yield %2 : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  func.return %1 : tensor<4xf32>
}
