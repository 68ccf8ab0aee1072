// RUN: cuvil-opt %s -p generalize | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --pipeline generalize
// A pool over everything is a reduction; a minimum is a negated maximum of negated numbers (~x for integers, exact at the ends).
// A window that leaves a part out, or padding, keeps it a pool.
// CHECK: cuvil_tensor.reduce add %x axes = [2, 3] keepdims
// CHECK: cuvil_tensor.unary neg %x
// CHECK-NEXT: cuvil_tensor.pool max
// CHECK-NEXT: cuvil_tensor.unary neg
// CHECK: cuvil_tensor.unary not %i
// CHECK: cuvil_tensor.pool add %x
func.func @main(%x: tensor<1x4x4x4xf32>, %i: tensor<1x4x4x4xi32>) -> (tensor<1x4x1x1xf32>, tensor<1x4x3x3xf32>, tensor<1x4x3x3xi32>, tensor<1x4x2x2xf32>) {
  %1 = cuvil_tensor.pool add %x input_order = [0, 1, 2, 3] kernel = [4, 4] strides = [4, 4] low = [0, 0] high = [0, 0] dilation = [1, 1] : tensor<1x4x4x4xf32> -> tensor<1x4x1x1xf32>
  %2 = cuvil_tensor.pool min %x input_order = [0, 1, 2, 3] kernel = [2, 2] strides = [1, 1] low = [0, 0] high = [0, 0] dilation = [1, 1] : tensor<1x4x4x4xf32> -> tensor<1x4x3x3xf32>
  %3 = cuvil_tensor.pool min %i input_order = [0, 1, 2, 3] kernel = [2, 2] strides = [1, 1] low = [0, 0] high = [0, 0] dilation = [1, 1] : tensor<1x4x4x4xi32> -> tensor<1x4x3x3xi32>
  %4 = cuvil_tensor.pool add %x input_order = [0, 1, 2, 3] kernel = [4, 4] strides = [2, 2] low = [1, 1] high = [1, 1] dilation = [1, 1] : tensor<1x4x4x4xf32> -> tensor<1x4x2x2xf32>
  func.return %1, %2, %3, %4 : tensor<1x4x1x1xf32>, tensor<1x4x3x3xf32>, tensor<1x4x3x3xi32>, tensor<1x4x2x2xf32>
}
