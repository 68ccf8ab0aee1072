// RUN: cuvil-opt %s -p generalize | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --pipeline generalize --tolerance 0
// reciprocal x => 1 / x, also where the shape is unknown; a concat of one operand goes.
// CHECK: %[[ONES:.*]] = cuvil_tensor.broadcast
// CHECK-NEXT: cuvil_tensor.binary div %[[ONES]], %x : tensor<?xf32, #cuvil_tensor.dims<"s0">>
// CHECK-NOT: cuvil_tensor.concat
func.func @main(%x: tensor<?xf32, #cuvil_tensor.dims<"s0">>, %y: tensor<4xf32>) -> (tensor<?xf32, #cuvil_tensor.dims<"s0">>, tensor<4xf32>) {
  %1 = cuvil_tensor.unary reciprocal %x : tensor<?xf32, #cuvil_tensor.dims<"s0">>
  %2 = cuvil_tensor.concat %y axis = 0 : tensor<4xf32> -> tensor<4xf32>
  func.return %1, %2 : tensor<?xf32, #cuvil_tensor.dims<"s0">>, tensor<4xf32>
}
