// RUN: cuvil-opt %s -p canonicalize | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 0 --pipeline canonicalize
// x / 8 => x * 0.125, which rounds to the same.
// x / 10 stays, and so does a quotient of f16.
// CHECK-LABEL: func.func @main
// CHECK: dense<1.250000e-01>
// CHECK: cuvil_tensor.binary mul %x
// CHECK-NEXT: %b = cuvil_tensor.binary div %x, %l
// CHECK-NEXT: %c = cuvil_tensor.binary div %h, %m
func.func @main(%x: tensor<4x8xf32>, %h: tensor<4xf16>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf16>) {
  %k = cuvil_tensor.constant dense<8.0> : tensor<4x8xf32>
  %l = cuvil_tensor.constant dense<10.0> : tensor<4x8xf32>
  %m = cuvil_tensor.constant dense<8.0> : tensor<4xf16>
  %a = cuvil_tensor.binary div %x, %k : tensor<4x8xf32>
  %b = cuvil_tensor.binary div %x, %l : tensor<4x8xf32>
  %c = cuvil_tensor.binary div %h, %m : tensor<4xf16>
  func.return %a, %b, %c : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf16>
}
