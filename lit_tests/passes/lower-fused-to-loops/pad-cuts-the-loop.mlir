// RUN: cuvil-opt %s -p 'fuse,pack-weights{target=x86-64-v4},bufferize,plan-memory,lower-fused-to-loops{target=x86-64-v4 threads=1}' | filecheck %s
// RUN: cuvil-run %s --random --pipeline cpu --compare --no-print | filecheck %s --check-prefix=SAME
// Before, inside and after the operand are three ranges.
// CHECK: func.func private @pad
// CHECK-NOT: arith.select
// CHECK: func.return
// SAME: comparison 0 agrees
func.func @main(%x: tensor<32xf32>, %v: tensor<f32>) -> tensor<64xf32> {
  %0 = cuvil_tensor.pad %x, %v low = [16] high = [16] : tensor<32xf32>, tensor<f32> -> tensor<64xf32>
  func.return %0 : tensor<64xf32>
}
