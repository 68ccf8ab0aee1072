// RUN: cuvil-opt %s -p bufferize | filecheck %s
// RUN: cuvil-opt %s -p bufferize,plan-memory --validate -o /dev/null
// A carried tensor lives in one buffer. An element-wise step updates it in place; the result is the output itself.
// CHECK: cuvil_fused.copy %x, %out0
// CHECK-NEXT: scf.for %i = %zero to %n step %one {
// CHECK-NEXT:   @step(%a = %out0) into(%out0)
// CHECK-NOT: cuvil_fused.copy
func.func @main(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %0 = scf.for %i = %zero to %n step %one iter_args(%s = %x) -> (tensor<4xf32>) {
    %1 = cuvil_fused.kernel @step(%a = %s) family = loop access = <streaming> : (tensor<4xf32>) -> (tensor<4xf32>) {
      %y = cuvil_tensor.unary exp %a : tensor<4xf32>
      cuvil_fused.yield %y : tensor<4xf32>
    }
    scf.yield %1 : tensor<4xf32>
  }
  func.return %0 : tensor<4xf32>
}
