// RUN: cuvil-run %s --input 'dense<[[1.0], [2.0], [3.0]]> : tensor<3x1xf32>' | filecheck %s
// RUN: not cuvil-run %s --input 'dense<[[1.0], [2.0]]> : tensor<2x1xf32>' 2>&1 | filecheck %s --check-prefix=EVEN
// Sizes come from the argument: s0 is 1 where 2*s0 + 1 rows are given.

!x = tensor<?x1xf32, #cuvil_tensor.dims<"2*s0 + 1", 1>>
!y = tensor<?xf32, #cuvil_tensor.dims<"s0">>

func.func @main(%x: !x) -> (!y, tensor<f32>) {
  %one = cuvil_tensor.constant dense<1.0> : tensor<f32>
  %y = cuvil_tensor.broadcast %one axes = [] : tensor<f32> -> !y
  %s = cuvil_tensor.reduce add %x axes = [0, 1] : !x -> tensor<f32>
  func.return %y, %s : !y, tensor<f32>
}
// CHECK: result 0 : tensor<1xf32> = [1]
// CHECK-NEXT: result 1 : tensor<f32> = 6
// EVEN: error: a dim of size 2 is declared as 2*s0 + 1
