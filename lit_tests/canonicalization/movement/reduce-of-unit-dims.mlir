// RUN: cuvil-opt %s -p canonicalize | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 0 --pipeline canonicalize
// reduce along dims of 1 => reshape.
// Along another dim it stays.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %b = cuvil_tensor.reshape %x
// CHECK-NEXT: %d = cuvil_tensor.reduce max %x
func.func @main(%x: tensor<4x1x3xf32>) -> (tensor<4x3xf32>, tensor<4x1xf32>) {
  %b = cuvil_tensor.reduce max %x axes = [1] : tensor<4x1x3xf32> -> tensor<4x3xf32>
  %d = cuvil_tensor.reduce max %x axes = [2] : tensor<4x1x3xf32> -> tensor<4x1xf32>
  func.return %b, %d : tensor<4x3xf32>, tensor<4x1xf32>
}
