// RUN: cuvil-opt %s -p decompose | filecheck %s
// RUN: cuvil-run %s --random --pipeline decompose --compare --no-print --tolerance 0
// A composite on bf16 is computed in f32 and rounded once, at the end.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %y = cuvil_tensor.silu %x : tensor<4xbf16> -> tensor<4xbf16>
  func.return %y : tensor<4xbf16>
}
// CHECK-NEXT: [[V0:%.+]] = cuvil_tensor.cast %x : tensor<4xbf16> -> tensor<4xf32>
// CHECK-NEXT: [[V1:%.+]] = cuvil_tensor.unary sigmoid [[V0]]
// CHECK-NEXT: [[V2:%.+]] = cuvil_tensor.binary mul [[V0]], [[V1]]
// CHECK-NEXT: %y = cuvil_tensor.cast [[V2]] : tensor<4xf32> -> tensor<4xbf16>
// CHECK-NEXT: func.return %y : tensor<4xbf16>
