// RUN: cuvil-opt %s -p fold-constants | filecheck %s
// RUN: cuvil-run %s --no-print --compare --tolerance 0 --pipeline fold-constants
// Ops on constants become constants, by the meaning that the interpreter has; folding goes on in the same pass.
// CHECK-LABEL: func.func @main
// CHECK: %[[A:.*]] = cuvil_tensor.constant dense<1.41421354> : tensor<f32>
// CHECK: %[[B:.*]] = cuvil_tensor.constant dense<[3, 2, 1]> : tensor<3xi64>
// CHECK: func.return %[[A]], %[[B]]
func.func @main() -> (tensor<f32>, tensor<3xi64>) {
  %1 = cuvil_tensor.constant dense<2.0> : tensor<f32>
  %2 = cuvil_tensor.unary sqrt %1 : tensor<f32>
  %3 = cuvil_tensor.constant dense<[1, 2, 3]> : tensor<3xi64>
  %4 = cuvil_tensor.reverse %3 axes = [0] : tensor<3xi64> -> tensor<3xi64>
  func.return %2, %4 : tensor<f32>, tensor<3xi64>
}
