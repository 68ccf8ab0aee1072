// RUN: cuvil-opt %s -p bufferize | filecheck %s
// RUN: cuvil-opt %s -p bufferize,plan-memory --validate -o /dev/null
// A loop works in the buffer of the tensor it starts from if nothing else needs that, else in a copy.
// CHECK-LABEL: func.func @dead
// CHECK: %0 = cuvil_fused.alloc
// CHECK-NOT: cuvil_fused.copy
// CHECK: @step(%a = %0) into(%0)
// CHECK-LABEL: func.func @read_in_the_loop
// CHECK: %0 = cuvil_fused.alloc
// CHECK: %1 = cuvil_fused.alloc
// CHECK-NEXT: cuvil_fused.copy %0, %1
// CHECK: @step(%a = %1, %b = %0) into(%1)
func.func @dead(%x: tensor<4xf32>, %n: index) -> tensor<f32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %0 = cuvil_fused.kernel @relu(%a = %x) family = loop access = <streaming> : (tensor<4xf32>) -> (tensor<4xf32>) {
    %y = cuvil_tensor.unary relu %a : tensor<4xf32>
    cuvil_fused.yield %y : tensor<4xf32>
  }
  %1 = scf.for %i = %zero to %n step %one iter_args(%s = %0) -> (tensor<4xf32>) {
    %2 = cuvil_fused.kernel @step(%a = %s) family = loop access = <streaming> : (tensor<4xf32>) -> (tensor<4xf32>) {
      %y = cuvil_tensor.unary exp %a : tensor<4xf32>
      cuvil_fused.yield %y : tensor<4xf32>
    }
    scf.yield %2 : tensor<4xf32>
  }
  %3 = cuvil_fused.kernel @sum(%a = %1) family = loop access = <reduction> : (tensor<4xf32>) -> (tensor<f32>) {
    %y = cuvil_tensor.reduce add %a axes = [0] : tensor<4xf32> -> tensor<f32>
    cuvil_fused.yield %y : tensor<f32>
  }
  func.return %3 : tensor<f32>
}
func.func @read_in_the_loop(%x: tensor<4xf32>, %n: index) -> tensor<f32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %0 = cuvil_fused.kernel @relu(%a = %x) family = loop access = <streaming> : (tensor<4xf32>) -> (tensor<4xf32>) {
    %y = cuvil_tensor.unary relu %a : tensor<4xf32>
    cuvil_fused.yield %y : tensor<4xf32>
  }
  %1 = scf.for %i = %zero to %n step %one iter_args(%s = %0) -> (tensor<4xf32>) {
    %2 = cuvil_fused.kernel @step(%a = %s, %b = %0) family = loop access = <streaming, streaming> : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>) {
      %y = cuvil_tensor.binary add %a, %b : tensor<4xf32>
      cuvil_fused.yield %y : tensor<4xf32>
    }
    scf.yield %2 : tensor<4xf32>
  }
  %3 = cuvil_fused.kernel @sum(%a = %1) family = loop access = <reduction> : (tensor<4xf32>) -> (tensor<f32>) {
    %y = cuvil_tensor.reduce add %a axes = [0] : tensor<4xf32> -> tensor<f32>
    cuvil_fused.yield %y : tensor<f32>
  }
  func.return %3 : tensor<f32>
}
