// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// Every matmul and einsum. Every form prints as it was written; the generic form is checked too.

// CHECK-LABEL: func.func @forms
func.func @forms(%x: tensor<8x4x16xf32>, %y: tensor<8x16x32xf32>, %v: tensor<16xf32>) {
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.contract %{{.*}}, %{{.*}} lhs_batch = [0] rhs_batch = [0] lhs_contract = [2] rhs_contract = [1] : tensor<8x4x16xf32>, tensor<8x16x32xf32> -> tensor<8x4x32xf32>
  %0 = cuvil_tensor.contract %x, %y lhs_batch = [0] rhs_batch = [0] lhs_contract = [2] rhs_contract = [1] : tensor<8x4x16xf32>, tensor<8x16x32xf32> -> tensor<8x4x32xf32>
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.contract %{{.*}}, %{{.*}} lhs_batch = [] rhs_batch = [] lhs_contract = [0] rhs_contract = [0] : tensor<16xf32>, tensor<16xf32> -> tensor<f32>
  %1 = cuvil_tensor.contract %v, %v lhs_batch = [] rhs_batch = [] lhs_contract = [0] rhs_contract = [0] : tensor<16xf32>, tensor<16xf32> -> tensor<f32>
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.contract %{{.*}}, %{{.*}} lhs_batch = [] rhs_batch = [] lhs_contract = [] rhs_contract = [] : tensor<16xf32>, tensor<16xf32> -> tensor<16x16xf32>
  %2 = cuvil_tensor.contract %v, %v lhs_batch = [] rhs_batch = [] lhs_contract = [] rhs_contract = [] : tensor<16xf32>, tensor<16xf32> -> tensor<16x16xf32>
  func.return
}
