// RUN: cuvil-opt %s -p canonicalize | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 0 --pipeline canonicalize
// pad by negative counts alone => slice.
// A pad that adds somewhere stays.
// CHECK-LABEL: func.func @main
// CHECK: %b = cuvil_tensor.slice %x starts = [1] steps = [1] : tensor<6xf32> -> tensor<3xf32>
// CHECK-NEXT: %d = cuvil_tensor.pad
func.func @main(%x: tensor<6xf32>) -> (tensor<3xf32>, tensor<6xf32>) {
  %z = cuvil_tensor.constant dense<0.0> : tensor<f32>
  %b = cuvil_tensor.pad %x, %z low = [-1] high = [-2] : tensor<6xf32>, tensor<f32> -> tensor<3xf32>
  %d = cuvil_tensor.pad %x, %z low = [-1] high = [1] : tensor<6xf32>, tensor<f32> -> tensor<6xf32>
  func.return %b, %d : tensor<3xf32>, tensor<6xf32>
}
