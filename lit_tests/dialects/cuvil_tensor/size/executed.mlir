// RUN: cuvil-run %s --input 'dense<[[1.0], [2.0], [3.0]]> : tensor<3x1xf32>' | filecheck %s
// In any numeric type: rounded, or wrapped.

func.func @main(%x: tensor<?x1xf32, #cuvil_tensor.dims<"s0", 1>>) -> (tensor<f32>, tensor<i64>, tensor<bf16>, tensor<i8>) {
  %0 = cuvil_tensor.size "2*s0 + 1" : tensor<f32>
  %1 = cuvil_tensor.size "((s0) floordiv 2)" : tensor<i64>
  %2 = cuvil_tensor.size "257*s0" : tensor<bf16>
  %3 = cuvil_tensor.size "100*s0" : tensor<i8>
  func.return %0, %1, %2, %3 : tensor<f32>, tensor<i64>, tensor<bf16>, tensor<i8>
}
// CHECK: result 0 : tensor<f32> = 7
// CHECK-NEXT: result 1 : tensor<i64> = 1
// CHECK-NEXT: result 2 : tensor<bf16> = 772
// CHECK-NEXT: result 3 : tensor<i8> = 44
