// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// A scalar function of three operands at every point. Every form prints as it was written; the generic form is checked too.

// CHECK-LABEL: func.func @forms
func.func @forms(%p: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xf32>) {
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.ternary select %{{.*}}, %{{.*}}, %{{.*}} : tensor<4xi1>, tensor<4xf32>, tensor<4xf32>
  %0 = cuvil_tensor.ternary select %p, %x, %y : tensor<4xi1>, tensor<4xf32>, tensor<4xf32>
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.ternary clamp %{{.*}}, %{{.*}}, %{{.*}} : tensor<4xf32>
  %1 = cuvil_tensor.ternary clamp %x, %y, %x : tensor<4xf32>
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.ternary fma %{{.*}}, %{{.*}}, %{{.*}} : tensor<4xf32>
  %2 = cuvil_tensor.ternary fma %x, %y, %x : tensor<4xf32>
  func.return
}
