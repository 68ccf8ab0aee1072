// RUN: cuvil-opt %s -p decompose | filecheck %s
// RUN: cuvil-run %s --random --pipeline decompose --compare --no-print --tolerance 0
// Every row is shifted by its largest element first, so that exp cannot overflow.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = cuvil_tensor.softmax %x axis = 1 : tensor<4x8xf32> -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
// CHECK-NEXT: [[V0:%.+]] = cuvil_tensor.reduce max %x axes = [1]
// CHECK-NEXT: [[V1:%.+]] = cuvil_tensor.broadcast [[V0]] axes = [0]
// CHECK-NEXT: [[V2:%.+]] = cuvil_tensor.binary sub %x, [[V1]]
// CHECK-NEXT: [[V3:%.+]] = cuvil_tensor.unary exp [[V2]]
// CHECK-NEXT: [[V4:%.+]] = cuvil_tensor.reduce add [[V3]] axes = [1]
// CHECK-NEXT: [[V5:%.+]] = cuvil_tensor.broadcast [[V4]] axes = [0]
// CHECK-NEXT: %y = cuvil_tensor.binary div [[V3]], [[V5]]
// CHECK-NEXT: func.return %y : tensor<4x8xf32>
