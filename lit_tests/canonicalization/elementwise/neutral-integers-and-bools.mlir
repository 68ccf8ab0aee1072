// RUN: cuvil-opt %s -p canonicalize | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 0 --pipeline canonicalize
// Integers: x + 0, x - 0, x or 0, x and -1 => x. Bools: x and true, x or false => x.
// x and 0, x or true stay for fold-constants.
// CHECK-LABEL: func.func @main
// CHECK: %g = cuvil_tensor.binary and %p, %o
// CHECK-NEXT: func.return %x, %x, %x, %x, %p, %p, %g
func.func @main(%x: tensor<4xi32>, %p: tensor<4xi1>) -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>) {
  %z = cuvil_tensor.constant dense<0> : tensor<4xi32>
  %m = cuvil_tensor.constant dense<-1> : tensor<4xi32>
  %t = cuvil_tensor.constant dense<true> : tensor<4xi1>
  %o = cuvil_tensor.constant dense<false> : tensor<4xi1>
  %a = cuvil_tensor.binary add %z, %x : tensor<4xi32>
  %b = cuvil_tensor.binary sub %x, %z : tensor<4xi32>
  %c = cuvil_tensor.binary or %x, %z : tensor<4xi32>
  %d = cuvil_tensor.binary and %x, %m : tensor<4xi32>
  %e = cuvil_tensor.binary and %p, %t : tensor<4xi1>
  %f = cuvil_tensor.binary or %o, %p : tensor<4xi1>
  %g = cuvil_tensor.binary and %p, %o : tensor<4xi1>
  func.return %a, %b, %c, %d, %e, %f, %g : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>
}
