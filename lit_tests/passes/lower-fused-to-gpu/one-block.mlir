// RUN: cuvil-opt %s -p fuse,bufferize,plan-memory,lower-fused-to-gpu | filecheck %s
// RUN: cuvil-run %s --random --no-print --pipeline fuse,bufferize,plan-memory,lower-fused-to-gpu --compare | filecheck %s --check-prefix=SIM
// A scatter first copies, then updates: only the threads of one block can wait for each other, so there is one.
// CHECK: %[[ONE:.*]] = arith.constant 1 : index
// CHECK: cuvil_gpu.launch @{{.*}} blocks = (%[[ONE]], %
// CHECK: cuvil_gpu.kernel
// CHECK: "gpu.barrier"
// SIM: comparison 0 agrees
func.func @main(%x: tensor<6x4xf32>, %u: tensor<2x4xf32>) -> tensor<6x4xf32> {
  %i = cuvil_tensor.constant dense<[4, 1]> : tensor<2xi64>
  %0 = cuvil_tensor.scatter add %x, %u, %i axes = [0] : tensor<6x4xf32>, tensor<2x4xf32>, tensor<2xi64> -> tensor<6x4xf32>
  func.return %0 : tensor<6x4xf32>
}
