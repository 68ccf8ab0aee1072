// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// A scalar function of two operands at every point. Every form prints as it was written; the generic form is checked too.

// CHECK-LABEL: func.func @forms
func.func @forms(%x: tensor<2x4xf32>, %y: tensor<2x4xf32>, %a: tensor<3xi1>, %b: tensor<3xi1>) {
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.binary add %{{.*}}, %{{.*}} : tensor<2x4xf32>
  %0 = cuvil_tensor.binary add %x, %y : tensor<2x4xf32>
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.binary lt %{{.*}}, %{{.*}} : tensor<2x4xf32>
  %1 = cuvil_tensor.binary lt %x, %y : tensor<2x4xf32>
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.binary xor %{{.*}}, %{{.*}} : tensor<3xi1>
  %2 = cuvil_tensor.binary xor %a, %b : tensor<3xi1>
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.binary add %{{.*}}, %{{.*}} : tensor<2x4xf32>
  %3 = cuvil_tensor.binary add %0, %0 : tensor<2x4xf32>
  func.return
}
