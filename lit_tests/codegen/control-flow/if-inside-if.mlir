// RUN: cuvil-run %s --engine native --input 'dense<true> : tensor<i1>' --input 'dense<false> : tensor<i1>' --input 'dense<[1.0]> : tensor<1xf32>' --compare | filecheck %s
// CHECK: result 0 : tensor<1xf32> = [-1]
// CHECK-NEXT: result 1 : tensor<1xf32> = [2]
// CHECK: comparison 0 agrees exactly
// CHECK: comparison 1 agrees exactly
func.func @main(%at: tensor<i1>, %bt: tensor<i1>, %x: tensor<1xf32>) -> (tensor<1xf32>, tensor<1xf32>) {
  %a = tensor.extract %at[] : tensor<i1>
  %b = tensor.extract %bt[] : tensor<i1>
  %0, %1 = scf.if %a -> (tensor<1xf32>, tensor<1xf32>) {
    %2 = cuvil_tensor.binary add %x, %x : tensor<1xf32>
    %3 = scf.if %b -> (tensor<1xf32>) {
      scf.yield %2 : tensor<1xf32>
    } else {
      %4 = cuvil_tensor.unary neg %x : tensor<1xf32>
      scf.yield %4 : tensor<1xf32>
    }
    scf.yield %3, %2 : tensor<1xf32>, tensor<1xf32>
  } else {
    scf.yield %x, %x : tensor<1xf32>, tensor<1xf32>
  }
  func.return %0, %1 : tensor<1xf32>, tensor<1xf32>
}
