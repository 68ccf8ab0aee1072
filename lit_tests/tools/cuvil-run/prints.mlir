// RUN: cuvil-run %s | filecheck %s
// RUN: cuvil-run %s --print=3 | filecheck %s --check-prefix=SHORT
// RUN: cuvil-run %s --no-print | filecheck %s --check-prefix=NOTHING --allow-empty
// Small tensors whole, large ones by their first elements and what sums them up.

func.func @main() -> (tensor<4xf32>, tensor<2000xi64>) {
  %0 = cuvil_tensor.constant dense<[0.33333334, 1.0e+20, 123456.0, -0.0]> : tensor<4xf32>
  %1 = cuvil_tensor.iota axis = 0 : tensor<2000xi64>
  func.return %0, %1 : tensor<4xf32>, tensor<2000xi64>
}
// CHECK: result 0 : tensor<4xf32> = [0.333333, 1e+20, 123456, -0]
// CHECK-NEXT: result 1 : tensor<2000xi64> = [0, 1, 2, 3, 4, 5, 6, 7, ...] (2000 elements, norm 51620.4, min 0, max 1999)
// SHORT: result 0 : tensor<4xf32> = [0.333, 1e+20, 123456, -0]
// NOTHING-NOT: result
