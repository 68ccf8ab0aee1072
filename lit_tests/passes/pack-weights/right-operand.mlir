// RUN: cuvil-opt %s -p 'fuse,pack-weights{target=x86-64-v3}' | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --pipeline fuse,pack-weights --tolerance 1e-6
// RUN: cuvil-run %s --random --no-print --compare --engine native
// A weight on the right is packed ahead, outside of the kernel; an input on the right is packed as the kernel runs.
// CHECK: %[[P:.*]] = cuvil_tensor.pack %w axes = [0]
// CHECK: cuvil_fused.kernel @contract_0(%x_1 = %x, %[[A:.*]] = %[[P]])
// CHECK-NEXT: %[[U:.*]] = cuvil_tensor.unpack %[[A]]
// CHECK-NEXT: cuvil_tensor.contract %x_1, %[[U]]
// CHECK: cuvil_fused.kernel @contract_1(
// CHECK-NOT: cuvil_tensor.unpack
cuvil_tensor.global @w : tensor<8x16xf32>
func.func @main(%x: tensor<4x16xf32>, %y: tensor<16x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %w = cuvil_tensor.parameter @w : tensor<8x16xf32>
  %1 = cuvil_tensor.contract %x, %w lhs_batch = [] rhs_batch = [] lhs_contract = [1] rhs_contract = [1] : tensor<4x16xf32>, tensor<8x16xf32> -> tensor<4x8xf32>
  %2 = cuvil_tensor.contract %x, %y lhs_batch = [] rhs_batch = [] lhs_contract = [1] rhs_contract = [0] : tensor<4x16xf32>, tensor<16x8xf32> -> tensor<4x8xf32>
  func.return %1, %2 : tensor<4x8xf32>, tensor<4x8xf32>
}
