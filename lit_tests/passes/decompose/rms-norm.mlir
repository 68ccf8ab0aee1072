// RUN: cuvil-opt %s -p decompose | filecheck %s
// RUN: cuvil-run %s --random --pipeline decompose --compare --no-print --tolerance 0
// Rms norm by its formula; the results stay bit-identical.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4x8xf32>, %w: tensor<8xf32>) -> tensor<4x8xf32> {
  %y = cuvil_tensor.rms_norm %x weight = %w axes = [1] eps = 1.0e-06 : tensor<4x8xf32>, tensor<8xf32> -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
// CHECK-NEXT: [[V0:%.+]] = cuvil_tensor.binary mul %x, %x
// CHECK-NEXT: [[V1:%.+]] = cuvil_tensor.reduce add [[V0]] axes = [1]
// CHECK-NEXT: [[V2:%.+]] = cuvil_tensor.constant dense<8.000000e+00>
// CHECK-NEXT: [[V3:%.+]] = cuvil_tensor.broadcast [[V2]] axes = []
// CHECK-NEXT: [[V4:%.+]] = cuvil_tensor.binary div [[V1]], [[V3]]
// CHECK-NEXT: [[V5:%.+]] = cuvil_tensor.constant dense<1.000000e-06>
// CHECK-NEXT: [[V6:%.+]] = cuvil_tensor.broadcast [[V5]] axes = []
// CHECK-NEXT: [[V7:%.+]] = cuvil_tensor.binary add [[V4]], [[V6]]
// CHECK-NEXT: [[V8:%.+]] = cuvil_tensor.unary rsqrt [[V7]]
// CHECK-NEXT: [[V9:%.+]] = cuvil_tensor.broadcast [[V8]] axes = [0]
// CHECK-NEXT: [[V10:%.+]] = cuvil_tensor.binary mul %x, [[V9]]
// CHECK-NEXT: [[V11:%.+]] = cuvil_tensor.broadcast %w axes = [1]
// CHECK-NEXT: %y = cuvil_tensor.binary mul [[V10]], [[V11]]
// CHECK-NEXT: func.return %y : tensor<4x8xf32>
