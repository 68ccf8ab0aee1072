// RUN: cuvil-opt %s -p canonicalize | filecheck %s
// RUN: cuvil-run %s --input 'dense<[1, 255]> : tensor<2xui8>' --pipeline canonicalize | filecheck %s --check-prefix=RUNS
// The negative of 1 is 255 in eight bits without a sign, and stays that under abs.
// CHECK: cuvil_tensor.unary neg
// CHECK: cuvil_tensor.unary abs
// RUNS: result 0 : tensor<2xui8> = [255, 1]
func.func @main(%x: tensor<2xui8>) -> tensor<2xui8> {
  %0 = cuvil_tensor.unary neg %x : tensor<2xui8>
  %1 = cuvil_tensor.unary abs %0 : tensor<2xui8>
  func.return %1 : tensor<2xui8>
}
