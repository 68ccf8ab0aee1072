// RUN: cuvil-run %s | filecheck %s
// A matrix product, a batched one against a transposed operand, integers that wrap.

func.func @main() -> (tensor<2x2xf32>, tensor<2xf32>, tensor<i8>) {
  %x = cuvil_tensor.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %y = cuvil_tensor.constant dense<[[1.0, 0.0], [10.0, 1.0]]> : tensor<2x2xf32>
  %n = cuvil_tensor.constant dense<[100, 100]> : tensor<2xi8>
  %0 = cuvil_tensor.contract %x, %y lhs_batch = [] rhs_batch = [] lhs_contract = [1] rhs_contract = [0] : tensor<2x2xf32>, tensor<2x2xf32> -> tensor<2x2xf32>
  %1 = cuvil_tensor.contract %x, %y lhs_batch = [0] rhs_batch = [0] lhs_contract = [1] rhs_contract = [1] : tensor<2x2xf32>, tensor<2x2xf32> -> tensor<2xf32>
  %2 = cuvil_tensor.contract %n, %n lhs_batch = [] rhs_batch = [] lhs_contract = [0] rhs_contract = [0] : tensor<2xi8>, tensor<2xi8> -> tensor<i8>
  func.return %0, %1, %2 : tensor<2x2xf32>, tensor<2xf32>, tensor<i8>
}
// CHECK{LITERAL}: result 0 : tensor<2x2xf32> = [[21, 2], [43, 4]]
// CHECK-NEXT: result 1 : tensor<2xf32> = [1, 34]
// CHECK-NEXT: result 2 : tensor<i8> = 32
