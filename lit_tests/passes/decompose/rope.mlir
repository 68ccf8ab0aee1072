// RUN: cuvil-opt %s -p decompose | filecheck %s
// RUN: cuvil-run %s --random --pipeline decompose --compare --no-print --tolerance 0
// Rope by its formula; the results stay bit-identical.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x4xf32>, %c: tensor<2x4xf32>, %s: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %y = cuvil_tensor.rope %x, %c, %s : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32> -> tensor<2x4xf32>
  func.return %y : tensor<2x4xf32>
}
// CHECK-NEXT: [[V0:%.+]] = cuvil_tensor.slice %x starts = [0, 0] steps = [1, 1]
// CHECK-NEXT: [[V1:%.+]] = cuvil_tensor.slice %x starts = [0, 2] steps = [1, 1]
// CHECK-NEXT: [[V2:%.+]] = cuvil_tensor.unary neg [[V1]]
// CHECK-NEXT: [[V3:%.+]] = cuvil_tensor.concat [[V2]], [[V0]] axis = 1
// CHECK-NEXT: [[V4:%.+]] = cuvil_tensor.binary mul %x, %c
// CHECK-NEXT: [[V5:%.+]] = cuvil_tensor.binary mul [[V3]], %s
// CHECK-NEXT: %y = cuvil_tensor.binary add [[V4]], [[V5]]
// CHECK-NEXT: func.return %y : tensor<2x4xf32>
