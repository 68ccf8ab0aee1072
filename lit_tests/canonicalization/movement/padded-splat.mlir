// RUN: cuvil-opt %s -p canonicalize | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 0 --pipeline canonicalize
// pad of a splat by the same number => the splat; -0.0 is not 0.0.
// CHECK-LABEL: func.func @main
// CHECK: %b = cuvil_tensor.constant dense<0.000000e+00> : tensor<5xf32>
// CHECK-NEXT: %d = cuvil_tensor.pad
func.func @main() -> (tensor<5xf32>, tensor<5xf32>) {
  %x = cuvil_tensor.constant dense<0.0> : tensor<3xf32>
  %z = cuvil_tensor.constant dense<0.0> : tensor<f32>
  %n = cuvil_tensor.constant dense<-0.0> : tensor<f32>
  %b = cuvil_tensor.pad %x, %z low = [1] high = [1] : tensor<3xf32>, tensor<f32> -> tensor<5xf32>
  %d = cuvil_tensor.pad %x, %n low = [1] high = [1] : tensor<3xf32>, tensor<f32> -> tensor<5xf32>
  func.return %b, %d : tensor<5xf32>, tensor<5xf32>
}
