// RUN: not cuvil-run %s --random 2>&1 | filecheck %s
// Thread 0 reads what another warp writes, and no barrier stands between.
// CHECK: missing-barrier.mlir:20:{{[0-9]+}}: error: cuvil_gpu.load: read of uninitialised memory: thread 0 of block 0 at element 63 of a shared buffer
func.func @main(%x: memref<64xf32, 1 : i32>, %y: memref<64xf32, 1 : i32>) attributes {cuvil_fused.outputs = 1 : i64} {
  %one = arith.constant 1 : index
  %blocks = arith.constant 1 : index
  cuvil_gpu.launch @k blocks = (%blocks, %one, %one) (%x, %y) : memref<64xf32, 1 : i32>, memref<64xf32, 1 : i32>
  func.return
}
cuvil_gpu.kernel @k threads = [64, 1, 1] {
^bb0(%x: memref<64xf32, 1 : i32>, %y: memref<64xf32, 1 : i32>):
  %thread = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %s = cuvil_gpu.shared : memref<64xf32, 3 : i32>
  %last = arith.constant 63 : index
  %v = cuvil_gpu.load %x[%thread] : memref<64xf32, 1 : i32>, f32
  cuvil_gpu.store %v, %s[%thread] : f32, memref<64xf32, 3 : i32>
  %other = arith.subi %last, %thread : index
  %w = cuvil_gpu.load %s[%other] : memref<64xf32, 3 : i32>, f32
  cuvil_gpu.return
}
