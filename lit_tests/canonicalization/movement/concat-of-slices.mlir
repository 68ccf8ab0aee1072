// RUN: cuvil-opt %s -p canonicalize | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 0 --pipeline canonicalize
// concat of slices that follow each other => one slice; of all of them => x.
// In another order it stays.
// CHECK-LABEL: func.func @main
// CHECK: %d = cuvil_tensor.concat %b, %a axis = 0
// CHECK-NEXT: func.return %x, %d
func.func @main(%x: tensor<6xf32>) -> (tensor<6xf32>, tensor<6xf32>) {
  %a = cuvil_tensor.slice %x starts = [0] steps = [1] : tensor<6xf32> -> tensor<2xf32>
  %b = cuvil_tensor.slice %x starts = [2] steps = [1] : tensor<6xf32> -> tensor<4xf32>
  %c = cuvil_tensor.concat %a, %b axis = 0 : tensor<2xf32>, tensor<4xf32> -> tensor<6xf32>
  %d = cuvil_tensor.concat %b, %a axis = 0 : tensor<4xf32>, tensor<2xf32> -> tensor<6xf32>
  func.return %c, %d : tensor<6xf32>, tensor<6xf32>
}
