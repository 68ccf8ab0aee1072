// RUN: cuvil-opt %s -p decompose | filecheck %s
// RUN: cuvil-run %s --random --pipeline decompose --compare --no-print --tolerance 0
// The logarithm is taken of the sum, once a row.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = cuvil_tensor.log_softmax %x axis = 1 : tensor<4x8xf32> -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
// CHECK-NEXT: [[V0:%.+]] = cuvil_tensor.reduce max %x axes = [1]
// CHECK-NEXT: [[V1:%.+]] = cuvil_tensor.broadcast [[V0]] axes = [0]
// CHECK-NEXT: [[V2:%.+]] = cuvil_tensor.binary sub %x, [[V1]]
// CHECK-NEXT: [[V3:%.+]] = cuvil_tensor.unary exp [[V2]]
// CHECK-NEXT: [[V4:%.+]] = cuvil_tensor.reduce add [[V3]] axes = [1]
// CHECK-NEXT: [[V5:%.+]] = cuvil_tensor.unary log [[V4]]
// CHECK-NEXT: [[V6:%.+]] = cuvil_tensor.broadcast [[V5]] axes = [0]
// CHECK-NEXT: %y = cuvil_tensor.binary sub [[V2]], [[V6]]
// CHECK-NEXT: func.return %y : tensor<4x8xf32>
