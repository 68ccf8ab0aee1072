// RUN: cuvil-opt %s -p decompose | filecheck %s
// RUN: cuvil-run %s --random --pipeline decompose --compare --no-print --tolerance 0
// Gelu erf by its formula; the results stay bit-identical.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = cuvil_tensor.gelu %x approximate = erf : tensor<4xf32> -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
// CHECK-NEXT: [[V0:%.+]] = cuvil_tensor.constant dense<0.707106769>
// CHECK-NEXT: [[V1:%.+]] = cuvil_tensor.broadcast [[V0]] axes = []
// CHECK-NEXT: [[V2:%.+]] = cuvil_tensor.binary mul %x, [[V1]]
// CHECK-NEXT: [[V3:%.+]] = cuvil_tensor.unary erf [[V2]]
// CHECK-NEXT: [[V4:%.+]] = cuvil_tensor.constant dense<5.000000e-01>
// CHECK-NEXT: [[V5:%.+]] = cuvil_tensor.broadcast [[V4]] axes = []
// CHECK-NEXT: [[V6:%.+]] = cuvil_tensor.binary mul %x, [[V5]]
// CHECK-NEXT: [[V7:%.+]] = cuvil_tensor.constant dense<1.000000e+00>
// CHECK-NEXT: [[V8:%.+]] = cuvil_tensor.broadcast [[V7]] axes = []
// CHECK-NEXT: [[V9:%.+]] = cuvil_tensor.binary add [[V3]], [[V8]]
// CHECK-NEXT: %y = cuvil_tensor.binary mul [[V6]], [[V9]]
// CHECK-NEXT: func.return %y : tensor<4xf32>
