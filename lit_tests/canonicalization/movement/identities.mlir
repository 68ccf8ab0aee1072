// RUN: cuvil-opt %s -p canonicalize | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 0 --pipeline canonicalize
// Movement that changes nothing goes: reshape, broadcast, transpose, slice, pad, reverse along dims of 1, cast.
// Movement of the same type that does something stays.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %t = cuvil_tensor.transpose %y input_order = [1, 0]
// CHECK-NEXT: func.return %x, %t
func.func @main(%x: tensor<1x8xf32>, %y: tensor<8x8xf32>) -> (tensor<1x8xf32>, tensor<8x8xf32>) {
  %a = cuvil_tensor.reshape %x : tensor<1x8xf32> -> tensor<1x8xf32>
  %b = cuvil_tensor.broadcast %a axes = [0, 1] : tensor<1x8xf32> -> tensor<1x8xf32>
  %c = cuvil_tensor.transpose %b input_order = [0, 1] : tensor<1x8xf32> -> tensor<1x8xf32>
  %d = cuvil_tensor.slice %c starts = [0, 0] steps = [1, 1] : tensor<1x8xf32> -> tensor<1x8xf32>
  %z = cuvil_tensor.constant dense<0.0> : tensor<f32>
  %e = cuvil_tensor.pad %d, %z low = [0, 0] high = [0, 0] : tensor<1x8xf32>, tensor<f32> -> tensor<1x8xf32>
  %h = cuvil_tensor.reverse %e axes = [0] : tensor<1x8xf32> -> tensor<1x8xf32>
  %g = cuvil_tensor.cast %h : tensor<1x8xf32> -> tensor<1x8xf32>
  %t = cuvil_tensor.transpose %y input_order = [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
  func.return %g, %t : tensor<1x8xf32>, tensor<8x8xf32>
}
