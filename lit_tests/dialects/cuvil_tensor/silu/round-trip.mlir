// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// x times its sigmoid. Every form prints as it was written; the generic form is checked too.

// CHECK-LABEL: func.func @forms
func.func @forms(%x: tensor<4xbf16>) {
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.silu %{{.*}} : tensor<4xbf16> -> tensor<4xbf16>
  %0 = cuvil_tensor.silu %x : tensor<4xbf16> -> tensor<4xbf16>
  func.return
}
