// RUN: cuvil-opt %s --load-pass-plugin=%S/../../dialects/cuvil_tensor/custom/Inputs/custom_ops.py -p normalize,fuse | filecheck %s
// A call-back is a kernel of its own: nothing is known of how it reads its operands. An expression joins its neighbours.

// CHECK-LABEL: func.func @main
// CHECK: cuvil_fused.kernel @{{.*}}opaque{{.*}} family = callback
// CHECK-NEXT: cuvil_tensor.custom @"mylib::opaque"
// CHECK-NEXT: cuvil_fused.yield
// CHECK: cuvil_fused.kernel {{.*}} family = loop
// CHECK-NOT: cuvil_fused.kernel
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = cuvil_tensor.custom @"mylib::opaque"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = cuvil_tensor.custom @"mylib::add_relu"(%0, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = cuvil_tensor.unary exp %1 : tensor<4xf32>
  func.return %2 : tensor<4xf32>
}
