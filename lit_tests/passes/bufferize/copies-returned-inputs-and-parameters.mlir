// RUN: cuvil-opt %s -p bufferize | filecheck %s
// RUN: cuvil-opt %s -p bufferize --remarks-filter=missed --verify-diagnostics
// RUN: cuvil-opt %s -p bufferize,plan-memory --validate -o /dev/null
// An output that is an input or a weight has nobody who could write it: it is copied.
// CHECK: %w = cuvil_fused.parameter @w : memref<2xf32>
// CHECK-NEXT: cuvil_fused.copy %x, %out0 : memref<2xf32>, memref<2xf32>
// CHECK-NEXT: cuvil_fused.copy %w, %out1 : memref<2xf32>, memref<2xf32>
// CHECK-NEXT: func.return
cuvil_tensor.global @w : tensor<2xf32>
// expected-remark @+2 {{output 0 is copied: its value, an argument, is elsewhere}}
// expected-remark @+1 {{output 1 is copied: its value, a cuvil_tensor.parameter, is elsewhere}}
func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %w = cuvil_tensor.parameter @w : tensor<2xf32>
  func.return %x, %w : tensor<2xf32>, tensor<2xf32>
}
