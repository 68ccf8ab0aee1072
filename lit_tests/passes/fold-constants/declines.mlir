// RUN: cuvil-opt %s -p fold-constants{max-elements=2} | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 0 --pipeline fold-constants
// Results beyond max-elements, what depends on inputs, bf16, and what is inside a kernel stay.
// CHECK: cuvil_tensor.reverse
// CHECK: cuvil_tensor.binary add %x
// CHECK: cuvil_tensor.unary neg %{{.*}} : tensor<bf16>
// CHECK: cuvil_fused.kernel
// CHECK: cuvil_tensor.unary neg
func.func @main(%x: tensor<f32>) -> (tensor<3xi64>, tensor<f32>, tensor<bf16>, tensor<f32>) {
  %1 = cuvil_tensor.constant dense<[1, 2, 3]> : tensor<3xi64>
  %2 = cuvil_tensor.reverse %1 axes = [0] : tensor<3xi64> -> tensor<3xi64>
  %3 = cuvil_tensor.constant dense<1.0> : tensor<f32>
  %4 = cuvil_tensor.binary add %x, %3 : tensor<f32>
  %5 = cuvil_tensor.constant dense<1.0> : tensor<bf16>
  %6 = cuvil_tensor.unary neg %5 : tensor<bf16>
  %7 = cuvil_fused.kernel @k(%a = %x) family = loop : (tensor<f32>) -> (tensor<f32>) {
    %c = cuvil_tensor.constant dense<1.0> : tensor<f32>
    %n = cuvil_tensor.unary neg %c : tensor<f32>
    %r = cuvil_tensor.binary add %a, %n : tensor<f32>
    cuvil_fused.yield %r : tensor<f32>
  }
  func.return %2, %4, %6, %7 : tensor<3xi64>, tensor<f32>, tensor<bf16>, tensor<f32>
}
