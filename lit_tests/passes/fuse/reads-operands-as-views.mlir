// RUN: cuvil-opt %s -p fuse | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 1e-6 --pipeline fuse
// RUN: cuvil-run %s --random --no-print --compare --engine native
// Heads are split and put together by strides: no kernel moves anything.
// CHECK: cuvil_fused.kernel @contract_0
// CHECK: cuvil_tensor.reshape
// CHECK: cuvil_tensor.transpose
// CHECK: cuvil_tensor.contract
// CHECK-NOT: cuvil_fused.kernel
func.func @main(%q: tensor<1x6x8xf32>, %k: tensor<1x6x8xf32>) -> tensor<1x2x6x6xf32> {
  %1 = cuvil_tensor.reshape %q : tensor<1x6x8xf32> -> tensor<1x6x2x4xf32>
  %2 = cuvil_tensor.transpose %1 input_order = [0, 2, 1, 3] : tensor<1x6x2x4xf32> -> tensor<1x2x6x4xf32>
  %3 = cuvil_tensor.reshape %k : tensor<1x6x8xf32> -> tensor<1x6x2x4xf32>
  %4 = cuvil_tensor.transpose %3 input_order = [0, 2, 1, 3] : tensor<1x6x2x4xf32> -> tensor<1x2x6x4xf32>
  %5 = cuvil_tensor.contract %2, %4 lhs_batch = [0, 1] rhs_batch = [0, 1] lhs_contract = [3] rhs_contract = [3] : tensor<1x2x6x4xf32>, tensor<1x2x6x4xf32> -> tensor<1x2x6x6xf32>
  func.return %5 : tensor<1x2x6x6xf32>
}
