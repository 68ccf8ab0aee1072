// RUN: cuvil-opt %s -p 'fuse,pack-weights{target=x86-64-v4},bufferize,plan-memory,lower-fused-to-loops{target=x86-64-v4 threads=1}' | filecheck %s
// RUN: cuvil-run %s --random --pipeline cpu --compare --no-print | filecheck %s --check-prefix=SAME
// f16 arithmetic is f32's, rounded once an operation.
// CHECK: func.func private @add
// CHECK: arith.extf {{.*}} to vector<16xf32>
// CHECK: arith.addf {{.*}} vector<16xf32>
// CHECK: arith.truncf
// SAME: comparison 0 agrees
func.func @main(%x: tensor<32xf16>, %y: tensor<32xf16>) -> tensor<32xf16> {
  %0 = cuvil_tensor.binary add %x, %y : tensor<32xf16>
  func.return %0 : tensor<32xf16>
}
