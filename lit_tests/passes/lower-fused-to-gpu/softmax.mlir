// RUN: cuvil-opt %s -p lower-fused-to-gpu | filecheck %s
// RUN: cuvil-run %s --random --no-print --pipeline lower-fused-to-gpu --compare | filecheck %s --check-prefix=SIM
// A block for each row: loads of 16 bytes, lanes combined by shuffles, the row read again rather than kept.
// CHECK: func.func @main(%x: memref<384xf32, 1 : i32>, %out0: memref<384xf32, 1 : i32>, %arena: memref<0xi8, 1 : i32>)
// CHECK: cuvil_gpu.launch @softmax blocks = (%{{.*}}, %{{.*}}, %{{.*}}) (%x, %out0)
// CHECK: cuvil_gpu.kernel @softmax threads = [32, 1, 1]
// CHECK: scf.for
// CHECK: cuvil_gpu.load %{{.*}} : memref<384xf32, 1 : i32>, vector<4xf32>
// CHECK-COUNT-5: cuvil_gpu.warp_shuffle xor
// CHECK: math.exp
// CHECK-COUNT-5: cuvil_gpu.warp_shuffle xor
// CHECK: cuvil_gpu.store %{{.*}} : vector<4xf32>, memref<384xf32, 1 : i32>
// SIM: comparison 0 agrees
func.func @main(%x: memref<6x64xf32>, %out0: memref<6x64xf32>, %arena: memref<0xi8>)
    attributes {cuvil_fused.outputs = 1 : i64, cuvil_fused.arena_bytes = 0 : i64} {
  cuvil_fused.kernel @softmax(%a = %x) into(%out0) family = loop access = <streaming> : (memref<6x64xf32>) into (memref<6x64xf32>) {
    %m = cuvil_tensor.reduce max %a axes = [1] : tensor<6x64xf32> -> tensor<6xf32>
    %b = cuvil_tensor.broadcast %m axes = [0] : tensor<6xf32> -> tensor<6x64xf32>
    %d = cuvil_tensor.binary sub %a, %b : tensor<6x64xf32>
    %e = cuvil_tensor.unary exp %d : tensor<6x64xf32>
    %s = cuvil_tensor.reduce add %e axes = [1] : tensor<6x64xf32> -> tensor<6xf32>
    %t = cuvil_tensor.broadcast %s axes = [0] : tensor<6xf32> -> tensor<6x64xf32>
    %r = cuvil_tensor.binary div %e, %t : tensor<6x64xf32>
    cuvil_fused.yield %r : tensor<6x64xf32>
  }
  func.return
}
