// RUN: cuvil-opt %s -p hoist-parameters | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --pipeline hoist-parameters --tolerance 0
// A broadcast bias is cheaper to repeat than to store; what it is computed from is hoisted, in branches too. Values of
// inputs, splats and plain positions stay.
// CHECK: cuvil_tensor.global @b.unary : tensor<4xf32>
// CHECK: cuvil_tensor.global @b.unary_1 : tensor<4xf32>
// CHECK-NOT: cuvil_tensor.global
// CHECK: func.func @main
// CHECK: %[[E:.*]] = cuvil_tensor.parameter @b.unary
// CHECK: cuvil_tensor.broadcast %[[E]] axes = [1]
// CHECK: cuvil_tensor.iota
// CHECK: cuvil_tensor.constant
// CHECK: scf.if
// CHECK-NEXT: cuvil_tensor.parameter @b.unary_1
cuvil_tensor.global @b : tensor<4xf32>
func.func @main(%x: tensor<3x4xf32>, %c: i1) -> (tensor<3x4xf32>, tensor<3x4xi64>) {
  %b = cuvil_tensor.parameter @b : tensor<4xf32>
  %1 = cuvil_tensor.unary exp %b : tensor<4xf32>
  %2 = cuvil_tensor.broadcast %1 axes = [1] : tensor<4xf32> -> tensor<3x4xf32>
  %3 = cuvil_tensor.binary add %x, %2 : tensor<3x4xf32>
  %4 = cuvil_tensor.iota axis = 1 : tensor<3x4xi64>
  %5 = cuvil_tensor.constant dense<1.0> : tensor<3x4xf32>
  %6 = cuvil_tensor.binary add %3, %5 : tensor<3x4xf32>
  %7 = scf.if %c -> (tensor<3x4xf32>) {
    %8 = cuvil_tensor.unary tanh %b : tensor<4xf32>
    %9 = cuvil_tensor.broadcast %8 axes = [1] : tensor<4xf32> -> tensor<3x4xf32>
    scf.yield %9 : tensor<3x4xf32>
  } else {
    scf.yield %6 : tensor<3x4xf32>
  }
  func.return %7, %4 : tensor<3x4xf32>, tensor<3x4xi64>
}
