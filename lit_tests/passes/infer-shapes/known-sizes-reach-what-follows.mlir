// RUN: cuvil-opt %s --disable-verify -p infer-shapes | cuvil-opt | filecheck %s
// RUN: cuvil-opt %s --disable-verify -p infer-shapes | cuvil-run - --input 'dense<[[0.0, 0.0], [0.0, 0.0]]> : tensor<2x2xf32>' | filecheck %s --check-prefix=RESULT
// The argument's size is known, what was computed from it still says s0: the size goes through every op.
// What comes out verifies and runs.
// CHECK: func.func @main(%x: tensor<2x2xf32>) -> tensor<2xf32>
// CHECK: cuvil_tensor.unary exp %x : tensor<2x2xf32>
// CHECK: cuvil_tensor.transpose %{{.*}} input_order = [1, 0] : tensor<2x2xf32> -> tensor<2x2xf32>
// CHECK: cuvil_tensor.reduce add %{{.*}} axes = [1] : tensor<2x2xf32> -> tensor<2xf32>
// RESULT: result 0 : tensor<2xf32> = [2, 2]
!symbolic = tensor<?x2xf32, #cuvil_tensor.dims<"s0", 2>>
!turned = tensor<2x?xf32, #cuvil_tensor.dims<2, "s0">>
func.func @main(%x: tensor<2x2xf32>) -> tensor<2xf32> {
  %0 = "cuvil_tensor.unary"(%x) <{kind = "exp"}> : (tensor<2x2xf32>) -> !symbolic
  %1 = cuvil_tensor.transpose %0 input_order = [1, 0] : !symbolic -> !turned
  %2 = cuvil_tensor.reduce add %1 axes = [1] : !turned -> tensor<2xf32>
  func.return %2 : tensor<2xf32>
}
