// RUN: cuvil-opt %s -p canonicalize | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 0 --pipeline canonicalize
// The laws hold on symbolic dims; constants of unknown shape stay broadcasts.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: func.return %x, %x
func.func @main(%x: tensor<?x4xf32, #cuvil_tensor.dims<"s0", 4>>) -> (tensor<?x4xf32, #cuvil_tensor.dims<"s0", 4>>, tensor<?x4xf32, #cuvil_tensor.dims<"s0", 4>>) {
  %a = cuvil_tensor.transpose %x input_order = [1, 0] : tensor<?x4xf32, #cuvil_tensor.dims<"s0", 4>> -> tensor<4x?xf32, #cuvil_tensor.dims<4, "s0">>
  %b = cuvil_tensor.transpose %a input_order = [1, 0] : tensor<4x?xf32, #cuvil_tensor.dims<4, "s0">> -> tensor<?x4xf32, #cuvil_tensor.dims<"s0", 4>>
  %c = cuvil_tensor.constant dense<-0.0> : tensor<f32>
  %g = cuvil_tensor.broadcast %c axes = [] : tensor<f32> -> tensor<?x4xf32, #cuvil_tensor.dims<"s0", 4>>
  %h = cuvil_tensor.binary add %g, %x : tensor<?x4xf32, #cuvil_tensor.dims<"s0", 4>>
  func.return %b, %h : tensor<?x4xf32, #cuvil_tensor.dims<"s0", 4>>, tensor<?x4xf32, #cuvil_tensor.dims<"s0", 4>>
}
