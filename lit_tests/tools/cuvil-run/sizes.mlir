// RUN: cuvil-run %s --random --size s0=3 | filecheck %s
// A symbolic dim gets the size asked for.

func.func @main(%x: tensor<?x2xf32, #cuvil_tensor.dims<"s0", 2>>) -> tensor<?xi64, #cuvil_tensor.dims<"s0">> {
  %0 = cuvil_tensor.iota axis = 0 : tensor<?xi64, #cuvil_tensor.dims<"s0">>
  func.return %0 : tensor<?xi64, #cuvil_tensor.dims<"s0">>
}
// CHECK: result 0 : tensor<3xi64> = [0, 1, 2]
