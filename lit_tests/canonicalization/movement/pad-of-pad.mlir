// RUN: cuvil-opt %s -p canonicalize | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 0 --pipeline canonicalize
// pad (pad x) with one number => pad x by the sum.
// Pads with different numbers, and crops, stay apart.
// CHECK-LABEL: func.func @main
// CHECK: %b = cuvil_tensor.pad %x, %z low = [2] high = [3]
// CHECK-NEXT: %d = cuvil_tensor.pad %a, %o low = [2] high = [0]
// CHECK-NEXT: %h = cuvil_tensor.pad %a, %z low = [-1] high = [2]
func.func @main(%x: tensor<4xf32>) -> (tensor<9xf32>, tensor<7xf32>, tensor<6xf32>) {
  %z = cuvil_tensor.constant dense<0.0> : tensor<f32>
  %o = cuvil_tensor.constant dense<1.0> : tensor<f32>
  %a = cuvil_tensor.pad %x, %z low = [1] high = [0] : tensor<4xf32>, tensor<f32> -> tensor<5xf32>
  %b = cuvil_tensor.pad %a, %z low = [1] high = [3] : tensor<5xf32>, tensor<f32> -> tensor<9xf32>
  %d = cuvil_tensor.pad %a, %o low = [2] high = [0] : tensor<5xf32>, tensor<f32> -> tensor<7xf32>
  %h = cuvil_tensor.pad %a, %z low = [-1] high = [2] : tensor<5xf32>, tensor<f32> -> tensor<6xf32>
  func.return %b, %d, %h : tensor<9xf32>, tensor<7xf32>, tensor<6xf32>
}
