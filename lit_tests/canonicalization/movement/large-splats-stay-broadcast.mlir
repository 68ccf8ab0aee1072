// RUN: cuvil-opt %s -p canonicalize | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 0 --pipeline canonicalize
// A large splat is a broadcast of one number: a dense attribute would hold every element.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[ONE:.*]] = cuvil_tensor.constant dense<2.000000e+00> : tensor<f32>
// CHECK-NEXT: cuvil_tensor.broadcast %[[ONE]] axes = []
func.func @main() -> (tensor<64x64xf32>) {
  %a = cuvil_tensor.constant dense<2.0> : tensor<f32>
  %b = cuvil_tensor.broadcast %a axes = [] : tensor<f32> -> tensor<4096xf32>
  %c = cuvil_tensor.reshape %b : tensor<4096xf32> -> tensor<64x64xf32>
  func.return %c : tensor<64x64xf32>
}
