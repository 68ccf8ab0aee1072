// RUN: cuvil-opt %s -p canonicalize | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 0 --pipeline canonicalize
// cast (cast x to a type that holds its values) => cast x, or x.
// Narrowing rounds or wraps: it stays.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %d = cuvil_tensor.cast %i : tensor<4xi32> -> tensor<4xf64>
// CHECK-NEXT: %g = cuvil_tensor.cast %f
// CHECK-NEXT: %h = cuvil_tensor.cast %g
// CHECK-NEXT: %j = cuvil_tensor.cast %i
// CHECK-NEXT: %k = cuvil_tensor.cast %j
// CHECK-NEXT: func.return %x
func.func @main(%x: tensor<4xf16>, %i: tensor<4xi32>, %f: tensor<4xf32>) -> (tensor<4xf16>, tensor<4xf64>, tensor<4xf32>, tensor<4xi8>) {
  %a = cuvil_tensor.cast %x : tensor<4xf16> -> tensor<4xf32>
  %b = cuvil_tensor.cast %a : tensor<4xf32> -> tensor<4xf16>
  %c = cuvil_tensor.cast %i : tensor<4xi32> -> tensor<4xi64>
  %d = cuvil_tensor.cast %c : tensor<4xi64> -> tensor<4xf64>
  %g = cuvil_tensor.cast %f : tensor<4xf32> -> tensor<4xf16>
  %h = cuvil_tensor.cast %g : tensor<4xf16> -> tensor<4xf32>
  %j = cuvil_tensor.cast %i : tensor<4xi32> -> tensor<4xf64>
  %k = cuvil_tensor.cast %j : tensor<4xf64> -> tensor<4xi8>
  func.return %b, %d, %h, %k : tensor<4xf16>, tensor<4xf64>, tensor<4xf32>, tensor<4xi8>
}
