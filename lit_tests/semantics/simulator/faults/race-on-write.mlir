// RUN: not cuvil-run %s --random 2>&1 | filecheck %s
// All threads write one element.
// CHECK: race-on-write.mlir:16:3: error: cuvil_gpu.store: data race: thread 0 of block 0 at element 0 of argument y, also written by thread 1 at once
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
  %v = cuvil_gpu.load %x[%thread] : memref<64xf32, 1 : i32>, f32
  cuvil_gpu.store %v, %y[%zero] : f32, memref<64xf32, 1 : i32>
  cuvil_gpu.return
}
