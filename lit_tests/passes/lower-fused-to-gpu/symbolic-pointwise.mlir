// RUN: cuvil-opt %s -p fuse,bufferize,plan-memory,lower-fused-to-gpu | filecheck %s
// RUN: cuvil-run %s --random --size s0=7 --no-print --pipeline fuse,bufferize,plan-memory,lower-fused-to-gpu --compare | filecheck %s --check-prefix=SIM
// The number of rows is known when it runs: the grid is computed from it, and each row is whole vectors of 8 halves.
// CHECK: func.func @main(%{{.*}}: memref<?xf16, 1 : i32>, %{{.*}}: memref<64xf16, 1 : i32>, %{{.*}}, %s0: index)
// CHECK: arith.minsi
// CHECK: cuvil_gpu.launch @{{.*}} blocks = (%{{.*}}) (%{{.*}}, %s0)
// CHECK: cuvil_gpu.kernel @{{.*}} threads = [256, 1, 1]
// CHECK: cuvil_gpu.load %{{.*}} : memref<?xf16, 1 : i32>, vector<8xf16>
// CHECK: cuvil_gpu.load %{{.*}} : memref<64xf16, 1 : i32>, vector<8xf16>
// CHECK: cuvil_gpu.store %{{.*}} : vector<8xf16>, memref<?xf16, 1 : i32>
// SIM: comparison 0 agrees
func.func @main(%x: tensor<?x64xf16, #cuvil_tensor.dims<"s0", 64>>, %y: tensor<64xf16>)
    -> tensor<?x64xf16, #cuvil_tensor.dims<"s0", 64>> {
  %0 = cuvil_tensor.broadcast %y axes = [1] : tensor<64xf16> -> tensor<?x64xf16, #cuvil_tensor.dims<"s0", 64>>
  %1 = cuvil_tensor.binary add %x, %0 : tensor<?x64xf16, #cuvil_tensor.dims<"s0", 64>>
  func.return %1 : tensor<?x64xf16, #cuvil_tensor.dims<"s0", 64>>
}
