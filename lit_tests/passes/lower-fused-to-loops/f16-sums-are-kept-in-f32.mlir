// RUN: cuvil-opt %s -p 'fuse,pack-weights{target=x86-64-v4},bufferize,plan-memory,lower-fused-to-loops{target=x86-64-v4 threads=1}' | filecheck %s
// RUN: cuvil-run %s --random --pipeline cpu --compare --no-print | filecheck %s --check-prefix=SAME
// Each element is widened before it is added, the sum is rounded once.
// CHECK: func.func private @reduce
// CHECK: arith.extf {{.*}} vector<16xf16> to vector<16xf32>
// CHECK: arith.addf {{.*}} vector<16xf32>
// CHECK: arith.truncf {{.*}} f32 to f16
// SAME: comparison 0 agrees
func.func @main(%x: tensor<3x64xf16>) -> tensor<3xf16> {
  %0 = cuvil_tensor.reduce add %x axes = [1] : tensor<3x64xf16> -> tensor<3xf16>
  func.return %0 : tensor<3xf16>
}
