// RUN: cuvil-opt %s -p decompose | filecheck %s
// RUN: cuvil-run %s --random --pipeline decompose --compare --no-print --tolerance 0
// Query heads that share a key head are one more dim of the contraction: keys are not repeated.

// CHECK-LABEL: func.func @main
func.func @main(%q: tensor<1x4x3x8xf32>, %k: tensor<1x2x5x8xf32>) -> tensor<1x4x3x8xf32> {
  %y = cuvil_tensor.attention %q, %k, %k causal scale = 0.5 : tensor<1x4x3x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x8xf32> -> tensor<1x4x3x8xf32>
  func.return %y : tensor<1x4x3x8xf32>
}

// CHECK-NEXT: [[Q:%.+]] = cuvil_tensor.reshape %q : tensor<1x4x3x8xf32> -> tensor<1x2x2x3x8xf32>
// CHECK-NEXT: [[SCORES:%.+]] = cuvil_tensor.contract [[Q]], %k lhs_batch = [0, 1] rhs_batch = [0, 1] lhs_contract = [4] rhs_contract = [3]
// CHECK-NEXT: cuvil_tensor.reshape [[SCORES]] : tensor<1x2x2x3x5xf32> -> tensor<1x4x3x5xf32>
// CHECK: [[ROW:%.+]] = cuvil_tensor.iota axis = 0 : tensor<3x5xi64>
// CHECK: [[COLUMN:%.+]] = cuvil_tensor.iota axis = 1 : tensor<3x5xi64>
// CHECK: cuvil_tensor.binary le [[COLUMN]], [[ROW]]
// CHECK: cuvil_tensor.contract {{.*}}, %k lhs_batch = [0, 1] rhs_batch = [0, 1] lhs_contract = [4] rhs_contract = [2]
// CHECK-NEXT: %y = cuvil_tensor.reshape {{.*}} -> tensor<1x4x3x8xf32>
