// RUN: cuvil-opt %s -p infer-shapes | filecheck %s
// Types that the rules give already stay, symbolic ones too; the function's type follows from what it returns.
// CHECK: func.func @main(%x: tensor<?x4xf32, #cuvil_tensor.dims<"s0", 4>>) -> tensor<?xf32, #cuvil_tensor.dims<"s0">>
// CHECK: cuvil_tensor.reduce add %{{.*}} axes = [1] : tensor<?x4xf32, #cuvil_tensor.dims<"s0", 4>> -> tensor<?xf32, #cuvil_tensor.dims<"s0">>
func.func @main(%x: tensor<?x4xf32, #cuvil_tensor.dims<"s0", 4>>) -> tensor<?xf32, #cuvil_tensor.dims<"s0">> {
  %1 = cuvil_tensor.unary exp %x : tensor<?x4xf32, #cuvil_tensor.dims<"s0", 4>>
  %2 = cuvil_tensor.reduce add %1 axes = [1] : tensor<?x4xf32, #cuvil_tensor.dims<"s0", 4>> -> tensor<?xf32, #cuvil_tensor.dims<"s0">>
  func.return %2 : tensor<?xf32, #cuvil_tensor.dims<"s0">>
}
