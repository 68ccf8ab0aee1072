// RUN: cuvil-opt %s -p bufferize | filecheck %s
// RUN: cuvil-opt %s -p bufferize,plan-memory --validate -o /dev/null
// The twin: a step that is not element-wise needs the old state whole; the new one is copied over it at the end.
// CHECK: scf.for
// CHECK-NEXT:   [[T:%\d+]] = cuvil_fused.alloc : memref<4xf32>
// CHECK-NEXT:   @step(%a = %out0) into([[T]])
// CHECK:        cuvil_fused.copy [[T]], %out0
// CHECK-NEXT:   cuvil_fused.free [[T]]
// CHECK-NEXT: }
func.func @main(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %0 = scf.for %i = %zero to %n step %one iter_args(%s = %x) -> (tensor<4xf32>) {
    %1 = cuvil_fused.kernel @step(%a = %s) family = loop access = <movement> : (tensor<4xf32>) -> (tensor<4xf32>) {
      %y = cuvil_tensor.reverse %a axes = [0] : tensor<4xf32> -> tensor<4xf32>
      cuvil_fused.yield %y : tensor<4xf32>
    }
    scf.yield %1 : tensor<4xf32>
  }
  func.return %0 : tensor<4xf32>
}
