// RUN: cuvil-opt %s --disable-verify -p infer-shapes | cuvil-opt | filecheck %s
// Sums of symbols are worked out anew, and the function's result type follows from what it returns.
// CHECK: func.func @main(%x: tensor<?xf32, #cuvil_tensor.dims<"n">>) -> tensor<?xf32, #cuvil_tensor.dims<"2*n + 1">>
// CHECK: cuvil_tensor.concat %x, %x axis = 0 {{.*}} -> tensor<?xf32, #cuvil_tensor.dims<"2*n">>
// CHECK: cuvil_tensor.pad {{.*}} -> tensor<?xf32, #cuvil_tensor.dims<"2*n + 1">>
!n = tensor<?xf32, #cuvil_tensor.dims<"n">>
!old = tensor<?xf32, #cuvil_tensor.dims<"s0">>
func.func @main(%x: !n) -> !old {
  %zero = cuvil_tensor.constant dense<0.0> : tensor<f32>
  %0 = cuvil_tensor.concat %x, %x axis = 0 : !n, !n -> !old
  %1 = cuvil_tensor.pad %0, %zero low = [0] high = [1] : !old, tensor<f32> -> !old
  func.return %1 : !old
}
