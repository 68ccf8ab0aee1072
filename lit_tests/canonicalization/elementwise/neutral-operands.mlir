// RUN: cuvil-opt %s -p canonicalize | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 0 --pipeline canonicalize
// x + -0.0, x - 0.0, x * 1, 1 * x, x / 1 => x.
// x + 0.0 and x - -0.0 turn -0.0 into 0.0: they stay, and so does x * 0.
// CHECK-LABEL: func.func @main
// CHECK: %e = cuvil_tensor.binary add %x, %z
// CHECK-NEXT: %f = cuvil_tensor.binary sub %x, %n
// CHECK-NEXT: %g = cuvil_tensor.binary mul %x, %z
// CHECK-NEXT: %h = cuvil_tensor.binary sub %z, %x
// CHECK-NEXT: func.return %x, %x, %x, %x, %e, %f, %g, %h
func.func @main(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %n = cuvil_tensor.constant dense<-0.0> : tensor<4x8xf32>
  %z = cuvil_tensor.constant dense<0.0> : tensor<4x8xf32>
  %o = cuvil_tensor.constant dense<1.0> : tensor<4x8xf32>
  %a = cuvil_tensor.binary add %x, %n : tensor<4x8xf32>
  %b = cuvil_tensor.binary sub %x, %z : tensor<4x8xf32>
  %c = cuvil_tensor.binary mul %o, %x : tensor<4x8xf32>
  %d = cuvil_tensor.binary div %x, %o : tensor<4x8xf32>
  %e = cuvil_tensor.binary add %x, %z : tensor<4x8xf32>
  %f = cuvil_tensor.binary sub %x, %n : tensor<4x8xf32>
  %g = cuvil_tensor.binary mul %x, %z : tensor<4x8xf32>
  %h = cuvil_tensor.binary sub %z, %x : tensor<4x8xf32>
  func.return %a, %b, %c, %d, %e, %f, %g, %h : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}
