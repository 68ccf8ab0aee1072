// RUN: cuvil-opt %s -p canonicalize | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 0 --pipeline canonicalize
// concat of one => it; operands without elements go; a concat read by one concat along its axis joins it.
// Along another axis, or read twice, it stays.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %b = cuvil_tensor.concat %x, %y axis = 0
// CHECK-NEXT: %d = cuvil_tensor.concat %x, %x, %y axis = 0
// CHECK-NEXT: %h = cuvil_tensor.concat %x, %y axis = 1
// CHECK-NEXT: %i = cuvil_tensor.concat %y, %x axis = 0
// CHECK-NEXT: %j = cuvil_tensor.concat %i, %i axis = 0
func.func @main(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %e: tensor<0x3xf32>) -> (tensor<4x3xf32>, tensor<6x3xf32>, tensor<2x6xf32>, tensor<4x3xf32>, tensor<8x3xf32>) {
  %a = cuvil_tensor.concat %x axis = 0 : tensor<2x3xf32> -> tensor<2x3xf32>
  %b = cuvil_tensor.concat %a, %e, %y axis = 0 : tensor<2x3xf32>, tensor<0x3xf32>, tensor<2x3xf32> -> tensor<4x3xf32>
  %c = cuvil_tensor.concat %x, %x axis = 0 : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<4x3xf32>
  %d = cuvil_tensor.concat %c, %y axis = 0 : tensor<4x3xf32>, tensor<2x3xf32> -> tensor<6x3xf32>
  %h = cuvil_tensor.concat %x, %y axis = 1 : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x6xf32>
  %i = cuvil_tensor.concat %y, %x axis = 0 : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<4x3xf32>
  %j = cuvil_tensor.concat %i, %i axis = 0 : tensor<4x3xf32>, tensor<4x3xf32> -> tensor<8x3xf32>
  func.return %b, %d, %h, %i, %j : tensor<4x3xf32>, tensor<6x3xf32>, tensor<2x6xf32>, tensor<4x3xf32>, tensor<8x3xf32>
}
