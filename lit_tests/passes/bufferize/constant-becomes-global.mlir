// RUN: cuvil-opt %s -p bufferize | filecheck %s
// RUN: cuvil-opt %s -p bufferize,plan-memory --validate -o /dev/null
// Constants outside kernels lie in memory like weights; equal ones are one, and names in use are left alone.
// CHECK: cuvil_tensor.global @constant_1 : tensor<2xf32> {
// CHECK-NEXT: %0 = cuvil_tensor.constant dense<1.000000e+00> : tensor<2xf32>
// CHECK-NEXT: cuvil_tensor.init_yield %0 : tensor<2xf32>
// CHECK: cuvil_tensor.global @constant_0 : tensor<2xf32>
// CHECK-NOT: cuvil_tensor.global
// CHECK: %c = cuvil_fused.parameter @constant_1 : memref<2xf32>
// CHECK-NEXT: %d = cuvil_fused.parameter @constant_1 : memref<2xf32>
cuvil_tensor.global @constant_0 : tensor<2xf32>
func.func @main() -> (tensor<2xf32>, tensor<2xf32>) {
  %c = cuvil_tensor.constant dense<1.0> : tensor<2xf32>
  %d = cuvil_tensor.constant dense<1.0> : tensor<2xf32>
  func.return %c, %d : tensor<2xf32>, tensor<2xf32>
}
