// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// A tensor given in the text. Every form prints as it was written; the generic form is checked too.

// CHECK-LABEL: func.func @forms
func.func @forms() {
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.constant dense<1.000000e+00> : tensor<f32>
  %0 = cuvil_tensor.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.constant dense<{{\[\[}}1, 2], [3, 4]]> : tensor<2x2xi64>
  %1 = cuvil_tensor.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.constant dense<true> : tensor<3xi1>
  %2 = cuvil_tensor.constant dense<true> : tensor<3xi1>
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.constant dense<[1.000000e+00, 0xff800000, 0x7fc00000]> : tensor<3xf32>
  %3 = cuvil_tensor.constant dense<[1.000000e+00, 0xff800000, 0x7fc00000]> : tensor<3xf32>
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.constant dense<> : tensor<0xf32>
  %4 = cuvil_tensor.constant dense<> : tensor<0xf32>
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.constant dense<7> : tensor<2xui8>
  %5 = cuvil_tensor.constant dense<7> : tensor<2xui8>
  func.return
}
