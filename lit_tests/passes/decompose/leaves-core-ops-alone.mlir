// RUN: cuvil-opt %s -p decompose | filecheck %s
// The core is what decompositions are made of: nothing changes.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %0 = cuvil_tensor.unary sigmoid %x : tensor<4x8xf32>
  // CHECK-NEXT: %1 = cuvil_tensor.reduce add %0 axes = [1] : tensor<4x8xf32> -> tensor<4xf32>
  // CHECK-NEXT: func.return %1
  %0 = cuvil_tensor.unary sigmoid %x : tensor<4x8xf32>
  %1 = cuvil_tensor.reduce add %0 axes = [1] : tensor<4x8xf32> -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}
