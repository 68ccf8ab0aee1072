// RUN: cuvil-opt %s -p 'hoist-parameters{growth=1 max-elements=8}' | filecheck %s
// What depends on constants alone is hoisted up to max-elements.
// CHECK: cuvil_tensor.global @constant.binary : tensor<2x4xi64>
// CHECK-NOT: cuvil_tensor.global
// CHECK: cuvil_tensor.binary add %{{.*}} : tensor<4x4xi64>
func.func @main() -> (tensor<2x4xi64>, tensor<4x4xi64>) {
  %1 = cuvil_tensor.iota axis = 0 : tensor<2x4xi64>
  %2 = cuvil_tensor.binary add %1, %1 : tensor<2x4xi64>
  %3 = cuvil_tensor.iota axis = 0 : tensor<4x4xi64>
  %4 = cuvil_tensor.binary add %3, %3 : tensor<4x4xi64>
  func.return %2, %4 : tensor<2x4xi64>, tensor<4x4xi64>
}
