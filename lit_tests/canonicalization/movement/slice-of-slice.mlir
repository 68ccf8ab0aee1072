// RUN: cuvil-opt %s -p canonicalize | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 0 --pipeline canonicalize
// slice (slice x) => slice x, starts and steps composed.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %b = cuvil_tensor.slice %x starts = [5] steps = [6] : tensor<20xf32> -> tensor<3xf32>
func.func @main(%x: tensor<20xf32>) -> (tensor<3xf32>) {
  %a = cuvil_tensor.slice %x starts = [3] steps = [2] : tensor<20xf32> -> tensor<8xf32>
  %b = cuvil_tensor.slice %a starts = [1] steps = [3] : tensor<8xf32> -> tensor<3xf32>
  func.return %b : tensor<3xf32>
}
