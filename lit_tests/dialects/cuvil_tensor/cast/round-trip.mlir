// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// The elements in another type. Every form prints as it was written; the generic form is checked too.

// CHECK-LABEL: func.func @forms
func.func @forms(%x: tensor<4xf32>, %n: tensor<4xi64>) {
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.cast %{{.*}} : tensor<4xf32> -> tensor<4xi64>
  %0 = cuvil_tensor.cast %x : tensor<4xf32> -> tensor<4xi64>
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.cast %{{.*}} : tensor<4xi64> -> tensor<4xbf16>
  %1 = cuvil_tensor.cast %n : tensor<4xi64> -> tensor<4xbf16>
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.cast %{{.*}} : tensor<4xf32> -> tensor<4xi1>
  %2 = cuvil_tensor.cast %x : tensor<4xf32> -> tensor<4xi1>
  func.return
}
