// RUN: cuvil-opt %s -p decompose | filecheck %s
// RUN: cuvil-run %s --random --pipeline decompose --compare --no-print --tolerance 0
// Gelu tanh by its formula; the results stay bit-identical.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = cuvil_tensor.gelu %x approximate = tanh : tensor<4xf32> -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
// CHECK-NEXT: [[V0:%.+]] = cuvil_tensor.binary mul %x, %x
// CHECK-NEXT: [[V1:%.+]] = cuvil_tensor.binary mul [[V0]], %x
// CHECK-NEXT: [[V2:%.+]] = cuvil_tensor.constant dense<4.471500e-02>
// CHECK-NEXT: [[V3:%.+]] = cuvil_tensor.broadcast [[V2]] axes = []
// CHECK-NEXT: [[V4:%.+]] = cuvil_tensor.binary mul [[V1]], [[V3]]
// CHECK-NEXT: [[V5:%.+]] = cuvil_tensor.binary add %x, [[V4]]
// CHECK-NEXT: [[V6:%.+]] = cuvil_tensor.constant dense<0.797884583>
// CHECK-NEXT: [[V7:%.+]] = cuvil_tensor.broadcast [[V6]] axes = []
// CHECK-NEXT: [[V8:%.+]] = cuvil_tensor.binary mul [[V5]], [[V7]]
// CHECK-NEXT: [[V9:%.+]] = cuvil_tensor.unary tanh [[V8]]
// CHECK-NEXT: [[V10:%.+]] = cuvil_tensor.constant dense<5.000000e-01>
// CHECK-NEXT: [[V11:%.+]] = cuvil_tensor.broadcast [[V10]] axes = []
// CHECK-NEXT: [[V12:%.+]] = cuvil_tensor.binary mul %x, [[V11]]
// CHECK-NEXT: [[V13:%.+]] = cuvil_tensor.constant dense<1.000000e+00>
// CHECK-NEXT: [[V14:%.+]] = cuvil_tensor.broadcast [[V13]] axes = []
// CHECK-NEXT: [[V15:%.+]] = cuvil_tensor.binary add [[V9]], [[V14]]
// CHECK-NEXT: %y = cuvil_tensor.binary mul [[V12]], [[V15]]
// CHECK-NEXT: func.return %y : tensor<4xf32>
