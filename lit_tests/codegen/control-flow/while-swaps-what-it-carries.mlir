// RUN: cuvil-run %s --engine native --input 'dense<[1.0, 2.0]> : tensor<2xf32>' --input 'dense<[5.0, 6.0]> : tensor<2xf32>' --input 'dense<3> : tensor<i64>' --compare | filecheck %s
// Three rounds that swap two tensors and count down: both buffers are read before either is written.
// CHECK: result 0 : tensor<2xf32> = [5, 6]
// CHECK-NEXT: result 1 : tensor<2xf32> = [1, 2]
// CHECK: comparison 0 agrees exactly
// CHECK: comparison 1 agrees exactly
func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>, %n: tensor<i64>) -> (tensor<2xf32>, tensor<2xf32>) {
  %zero = cuvil_tensor.constant dense<0> : tensor<i64>
  %one = cuvil_tensor.constant dense<1> : tensor<i64>
  %r0, %r1, %r2 = scf.while (%a = %x, %b = %y, %i = %n) : (tensor<2xf32>, tensor<2xf32>, tensor<i64>) -> (tensor<2xf32>, tensor<2xf32>, tensor<i64>) {
    %more = cuvil_tensor.binary gt %i, %zero : tensor<i64>
    %c = tensor.extract %more[] : tensor<i1>
    scf.condition(%c) %a, %b, %i : tensor<2xf32>, tensor<2xf32>, tensor<i64>
  } do {
  ^bb0(%a: tensor<2xf32>, %b: tensor<2xf32>, %i: tensor<i64>):
    %next = cuvil_tensor.binary sub %i, %one : tensor<i64>
    scf.yield %b, %a, %next : tensor<2xf32>, tensor<2xf32>, tensor<i64>
  }
  func.return %r0, %r1 : tensor<2xf32>, tensor<2xf32>
}
