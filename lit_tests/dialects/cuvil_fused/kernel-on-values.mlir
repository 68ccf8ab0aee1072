// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// A kernel on values: operands bound by name, summary and schedule, several results.
// CHECK: %0, %1 = cuvil_fused.kernel @both(%a = %x, %b = %y) family = loop access = <streaming, broadcast> schedule = <tiles = [8, 16], vector = 16, parallel = 1> : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>) {
// CHECK-NEXT:   %2 = cuvil_tensor.broadcast %b axes = [] : tensor<f32> -> tensor<4xf32>
// CHECK-NEXT:   %3 = cuvil_tensor.binary add %a, %2 : tensor<4xf32>
// CHECK-NEXT:   cuvil_fused.yield %2, %3 : tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT: }
func.func @main(%x: tensor<4xf32>, %y: tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0, %1 = cuvil_fused.kernel @both(%a = %x, %b = %y) family = loop access = <streaming, broadcast> schedule = <tiles = [8, 16], vector = 16, parallel = 1>
    : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %2 = cuvil_tensor.broadcast %b axes = [] : tensor<f32> -> tensor<4xf32>
    %3 = cuvil_tensor.binary add %a, %2 : tensor<4xf32>
    cuvil_fused.yield %2, %3 : tensor<4xf32>, tensor<4xf32>
  }
  func.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
