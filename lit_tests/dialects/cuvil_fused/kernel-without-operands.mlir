// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// A kernel may read nothing, and an empty schedule entry keeps its brackets.
// CHECK: cuvil_fused.kernel @zeros() family = loop access = <> schedule = <tiles = []> : () -> (tensor<4xf32>) {
func.func @main() -> tensor<4xf32> {
  %0 = cuvil_fused.kernel @zeros() family = loop access = <> schedule = <tiles = []> : () -> (tensor<4xf32>) {
    %z = cuvil_tensor.constant dense<0.0> : tensor<4xf32>
    cuvil_fused.yield %z : tensor<4xf32>
  }
  func.return %0 : tensor<4xf32>
}
