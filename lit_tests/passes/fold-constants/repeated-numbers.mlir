// RUN: cuvil-opt %s -p fold-constants | filecheck %s
// RUN: cuvil-run %s --random --size s0=3 --no-print --compare --tolerance 0 --pipeline fold-constants
// A number that is repeated folds at any size and in unknown shapes: the result is that number, repeated.
// CHECK: %[[E:.*]] = cuvil_tensor.constant dense<2.71828{{.*}}> : tensor<f32>
// CHECK-NEXT: %3 = cuvil_tensor.broadcast %[[E]] axes = [] : tensor<f32> -> tensor<?x4096xf32
// CHECK-NOT: cuvil_tensor.unary exp
func.func @main(%x: tensor<?x4096xf32, #cuvil_tensor.dims<"s0", 4096>>) -> tensor<?x4096xf32, #cuvil_tensor.dims<"s0", 4096>> {
  %1 = cuvil_tensor.constant dense<1.0> : tensor<f32>
  %2 = cuvil_tensor.broadcast %1 axes = [] : tensor<f32> -> tensor<?x4096xf32, #cuvil_tensor.dims<"s0", 4096>>
  %3 = cuvil_tensor.unary exp %2 : tensor<?x4096xf32, #cuvil_tensor.dims<"s0", 4096>>
  %4 = cuvil_tensor.binary mul %x, %3 : tensor<?x4096xf32, #cuvil_tensor.dims<"s0", 4096>>
  func.return %4 : tensor<?x4096xf32, #cuvil_tensor.dims<"s0", 4096>>
}
