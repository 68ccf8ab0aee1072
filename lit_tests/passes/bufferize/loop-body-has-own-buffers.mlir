// RUN: cuvil-opt %s -p bufferize | filecheck %s
// RUN: cuvil-opt %s -p bufferize,plan-memory --validate -o /dev/null
// A tensor that lives within one iteration is allocated and freed within it.
// CHECK: scf.for
// CHECK-NEXT: [[T:%\w+]] = cuvil_fused.alloc : memref<f32>
// CHECK: @apply(%a = %out0, %b = [[T]]) into(%out0)
// CHECK: cuvil_fused.free [[T]]
// CHECK-NEXT: }
func.func @main(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %0 = scf.for %i = %zero to %n step %one iter_args(%s = %x) -> (tensor<4xf32>) {
    %m = cuvil_fused.kernel @max(%a = %s) family = loop access = <reduction> : (tensor<4xf32>) -> (tensor<f32>) {
      %y = cuvil_tensor.reduce max %a axes = [0] : tensor<4xf32> -> tensor<f32>
      cuvil_fused.yield %y : tensor<f32>
    }
    %1 = cuvil_fused.kernel @apply(%a = %s, %b = %m) family = loop access = <streaming, broadcast> : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>) {
      %w = cuvil_tensor.broadcast %b axes = [] : tensor<f32> -> tensor<4xf32>
      %y = cuvil_tensor.binary sub %a, %w : tensor<4xf32>
      cuvil_fused.yield %y : tensor<4xf32>
    }
    scf.yield %1 : tensor<4xf32>
  }
  func.return %0 : tensor<4xf32>
}
