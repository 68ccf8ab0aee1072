// RUN: cuvil-opt %s -p bufferize | filecheck %s
// The twin: what the condition forwards is not what it was given, so that the two have buffers of their own.
// CHECK: [[S:%\d+]] = cuvil_fused.alloc : memref<4xf32>
// CHECK-NEXT: cuvil_fused.copy %x, [[S]]
// CHECK-NEXT: scf.while () : () -> () {
// CHECK-NEXT:   @look(%a = [[S]]) into(%out0)
// CHECK: scf.condition(%c)
// CHECK: @step(%a = %out0) into([[S]])
// CHECK: scf.yield
// CHECK: cuvil_fused.free [[S]]
func.func @main(%x: tensor<4xf32>, %c: i1) -> tensor<f32> {
  %0 = scf.while (%s = %x) : (tensor<4xf32>) -> tensor<f32> {
    %1 = cuvil_fused.kernel @look(%a = %s) family = loop access = <reduction> : (tensor<4xf32>) -> (tensor<f32>) {
      %y = cuvil_tensor.reduce max %a axes = [0] : tensor<4xf32> -> tensor<f32>
      cuvil_fused.yield %y : tensor<f32>
    }
    scf.condition(%c) %1 : tensor<f32>
  } do {
  ^bb0(%t: tensor<f32>):
    %2 = cuvil_fused.kernel @step(%a = %t) family = loop access = <broadcast> : (tensor<f32>) -> (tensor<4xf32>) {
      %y = cuvil_tensor.broadcast %a axes = [] : tensor<f32> -> tensor<4xf32>
      cuvil_fused.yield %y : tensor<4xf32>
    }
    scf.yield %2 : tensor<4xf32>
  }
  func.return %0 : tensor<f32>
}
