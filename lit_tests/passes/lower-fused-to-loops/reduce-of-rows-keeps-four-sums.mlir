// RUN: cuvil-opt %s -p 'fuse,pack-weights{target=x86-64-v4},bufferize,plan-memory,lower-fused-to-loops{target=x86-64-v4 threads=1}' | filecheck %s
// RUN: cuvil-run %s --random --pipeline cpu --compare --no-print | filecheck %s --check-prefix=SAME
// Independent accumulators hide the latency of an addition and keep the error small.
// CHECK: func.func private @reduce
// CHECK: iter_args({{.*}} = {{.*}}, {{.*}} = {{.*}}, {{.*}} = {{.*}}, {{.*}} = 
// CHECK: vector.reduction
// SAME: comparison 0 agrees
func.func @main(%x: tensor<3x256xf32>) -> tensor<3xf32> {
  %0 = cuvil_tensor.reduce add %x axes = [1] : tensor<3x256xf32> -> tensor<3xf32>
  func.return %0 : tensor<3xf32>
}
