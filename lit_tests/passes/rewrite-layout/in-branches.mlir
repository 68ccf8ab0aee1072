// RUN: cuvil-opt %s -p rewrite-layout | filecheck %s
// Each block by itself: what a branch reads from outside is transposed inside, what it gives is transposed back.
// CHECK: scf.if
// CHECK: %[[X:.*]] = cuvil_tensor.transpose %x
// CHECK: %[[P:.*]] = cuvil_tensor.pool max %[[X]]
// CHECK: %[[Y:.*]] = cuvil_tensor.transpose %[[P]] input_order = [0, 3, 1, 2]
// CHECK: scf.yield %[[Y]]
func.func @main(%x: tensor<1x4x4x4xf32>, %c: i1) -> tensor<1x4x4x4xf32> {
  %r = scf.if %c -> (tensor<1x4x4x4xf32>) {
    %1 = cuvil_tensor.pool max %x input_order = [0, 1, 2, 3] kernel = [3, 3] strides = [1, 1] low = [1, 1] high = [1, 1] dilation = [1, 1] : tensor<1x4x4x4xf32> -> tensor<1x4x4x4xf32>
    scf.yield %1 : tensor<1x4x4x4xf32>
  } else {
    scf.yield %x : tensor<1x4x4x4xf32>
  }
  func.return %r : tensor<1x4x4x4xf32>
}
