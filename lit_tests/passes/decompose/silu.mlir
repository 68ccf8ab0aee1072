// RUN: cuvil-opt %s -p decompose | filecheck %s
// RUN: cuvil-run %s --random --pipeline decompose --compare --no-print --tolerance 0
// Silu by its formula; the results stay bit-identical.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = cuvil_tensor.silu %x : tensor<4xf32> -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
// CHECK-NEXT: [[V0:%.+]] = cuvil_tensor.unary sigmoid %x
// CHECK-NEXT: %y = cuvil_tensor.binary mul %x, [[V0]]
// CHECK-NEXT: func.return %y : tensor<4xf32>
