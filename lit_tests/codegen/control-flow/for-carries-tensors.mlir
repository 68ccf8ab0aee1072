// RUN: cuvil-run %s --engine native --input 'dense<[1.0, 2.0]> : tensor<2xf32>' --compare | filecheck %s
// Fibonacci by a loop of known length: each round reads both old values and writes both new ones.
// CHECK: result 0 : tensor<2xf32> = [8, 16]
// CHECK-NEXT: result 1 : tensor<2xf32> = [13, 26]
// CHECK: comparison 0 agrees exactly
// CHECK: comparison 1 agrees exactly
func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %0, %1 = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %x, %b = %x) -> (tensor<2xf32>, tensor<2xf32>) {
    %2 = cuvil_tensor.binary add %a, %b : tensor<2xf32>
    scf.yield %b, %2 : tensor<2xf32>, tensor<2xf32>
  }
  func.return %0, %1 : tensor<2xf32>, tensor<2xf32>
}
