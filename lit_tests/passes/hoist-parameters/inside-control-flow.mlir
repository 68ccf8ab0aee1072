// RUN: cuvil-opt %s -p hoist-parameters | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --pipeline hoist-parameters --tolerance 0
// What branches and loops compute of weights alone is hoisted too; what they compute of their arguments is not.
// CHECK: cuvil_tensor.global @w.transpose : tensor<4x3xf32>
// CHECK: func.func @main
// CHECK: scf.if
// CHECK-NEXT: [[W:%.*]] = cuvil_tensor.parameter @w.transpose
// CHECK-NEXT: cuvil_tensor.binary add %x, [[W]]
// CHECK: } else {
// CHECK-NEXT: cuvil_tensor.unary neg
cuvil_tensor.global @w : tensor<3x4xf32>
func.func @main(%x: tensor<4x3xf32>, %c: i1) -> tensor<4x3xf32> {
  %w = cuvil_tensor.parameter @w : tensor<3x4xf32>
  %1 = scf.if %c -> (tensor<4x3xf32>) {
    %2 = cuvil_tensor.transpose %w input_order = [1, 0] : tensor<3x4xf32> -> tensor<4x3xf32>
    %3 = cuvil_tensor.binary add %x, %2 : tensor<4x3xf32>
    scf.yield %3 : tensor<4x3xf32>
  } else {
    %4 = cuvil_tensor.unary neg %x : tensor<4x3xf32>
    scf.yield %4 : tensor<4x3xf32>
  }
  func.return %1 : tensor<4x3xf32>
}
