// RUN: not cuvil-run %s --random 2>&1 | filecheck %s
// A lane overwrites what its neighbour has read, without the warp meeting in between.
// CHECK: race-after-read.mlir:23:3: error: cuvil_gpu.store: data race: thread 0 of block 0 at element 0 of a shared buffer, which was read by thread 31 of block 0
func.func @main(%x: memref<64xf32, 1 : i32>, %y: memref<64xf32, 1 : i32>) attributes {cuvil_fused.outputs = 1 : i64} {
  %one = arith.constant 1 : index
  %blocks = arith.constant 1 : index
  cuvil_gpu.launch @k blocks = (%blocks, %one, %one) (%x, %y) : memref<64xf32, 1 : i32>, memref<64xf32, 1 : i32>
  func.return
}
cuvil_gpu.kernel @k threads = [32, 1, 1] {
^bb0(%x: memref<64xf32, 1 : i32>, %y: memref<64xf32, 1 : i32>):
  %thread = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %s = cuvil_gpu.shared : memref<64xf32, 3 : i32>
  %c = arith.constant 32 : index
  %v = cuvil_gpu.load %x[%thread] : memref<64xf32, 1 : i32>, f32
  cuvil_gpu.store %v, %s[%thread] : f32, memref<64xf32, 3 : i32>
  cuvil_gpu.warp_sync
  %next = arith.addi %thread, %one : index
  %place = arith.remui %next, %c : index
  %w = cuvil_gpu.load %s[%place] : memref<64xf32, 3 : i32>, f32
  cuvil_gpu.store %w, %s[%thread] : f32, memref<64xf32, 3 : i32>
  cuvil_gpu.return
}
