// RUN: cuvil-run %s | filecheck %s
// Towards zero, to bool by != 0, wrapping between integers, rounded to nearest even.

func.func @main() -> (tensor<3xi32>, tensor<3xi1>, tensor<2xi8>, tensor<2xui8>, tensor<2xf32>, tensor<2xbf16>) {
  %x = cuvil_tensor.constant dense<[-1.75, 0.0, 2.5]> : tensor<3xf32>
  %n = cuvil_tensor.constant dense<[300, -1]> : tensor<2xi64>
  %p = cuvil_tensor.constant dense<[true, false]> : tensor<2xi1>
  %h = cuvil_tensor.constant dense<[1.00390625, 1.01171875]> : tensor<2xf32>
  %0 = cuvil_tensor.cast %x : tensor<3xf32> -> tensor<3xi32>
  %1 = cuvil_tensor.cast %x : tensor<3xf32> -> tensor<3xi1>
  %2 = cuvil_tensor.cast %n : tensor<2xi64> -> tensor<2xi8>
  %3 = cuvil_tensor.cast %n : tensor<2xi64> -> tensor<2xui8>
  %4 = cuvil_tensor.cast %p : tensor<2xi1> -> tensor<2xf32>
  %5 = cuvil_tensor.cast %h : tensor<2xf32> -> tensor<2xbf16>
  func.return %0, %1, %2, %3, %4, %5 : tensor<3xi32>, tensor<3xi1>, tensor<2xi8>, tensor<2xui8>, tensor<2xf32>, tensor<2xbf16>
}
// CHECK: result 0 : tensor<3xi32> = [-1, 0, 2]
// CHECK-NEXT: result 1 : tensor<3xi1> = [true, false, true]
// CHECK-NEXT: result 2 : tensor<2xi8> = [44, -1]
// CHECK-NEXT: result 3 : tensor<2xui8> = [44, 255]
// CHECK-NEXT: result 4 : tensor<2xf32> = [1, 0]
// CHECK-NEXT: result 5 : tensor<2xbf16> = [1, 1.01562]
