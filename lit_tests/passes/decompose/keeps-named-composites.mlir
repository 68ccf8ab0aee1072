// RUN: cuvil-opt %s -p 'decompose{keep=softmax,attention}' | filecheck %s
// RUN: cuvil-opt %s -p 'decompose{keep=softmax}' | cuvil-opt -p decompose | filecheck %s --check-prefix=NONE
// What a later pass matches whole stays whole.

// CHECK-LABEL: func.func @main
// NONE-NOT: cuvil_tensor.softmax
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK-NEXT: cuvil_tensor.softmax
  %0 = cuvil_tensor.softmax %x axis = 1 : tensor<4x8xf32> -> tensor<4x8xf32>
  // CHECK-NEXT: cuvil_tensor.unary sigmoid
  // CHECK-NEXT: cuvil_tensor.binary mul
  %1 = cuvil_tensor.silu %0 : tensor<4x8xf32> -> tensor<4x8xf32>
  func.return %1 : tensor<4x8xf32>
}
