// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// A weight whose value is bound later, and one that is computed from it.

// CHECK: cuvil_tensor.global @weight : tensor<2x4xf32>
cuvil_tensor.global @weight : tensor<2x4xf32>

// CHECK-NEXT: cuvil_tensor.global @turned : tensor<4x2xf32> {
// CHECK-NEXT:   %0 = cuvil_tensor.parameter @weight : tensor<2x4xf32>
// CHECK-NEXT:   %1 = cuvil_tensor.transpose %0 input_order = [1, 0] : tensor<2x4xf32> -> tensor<4x2xf32>
// CHECK-NEXT:   cuvil_tensor.init_yield %1 : tensor<4x2xf32>
// CHECK-NEXT: }
cuvil_tensor.global @turned : tensor<4x2xf32> {
  %0 = cuvil_tensor.parameter @weight : tensor<2x4xf32>
  %1 = cuvil_tensor.transpose %0 input_order = [1, 0] : tensor<2x4xf32> -> tensor<4x2xf32>
  cuvil_tensor.init_yield %1 : tensor<4x2xf32>
}

// CHECK-LABEL: func.func @use
func.func @use() -> tensor<4x2xf32> {
  // CHECK-NEXT: %0 = cuvil_tensor.parameter @turned : tensor<4x2xf32>
  %0 = cuvil_tensor.parameter @turned : tensor<4x2xf32>
  func.return %0 : tensor<4x2xf32>
}
