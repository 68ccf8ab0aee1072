// RUN: not cuvil-run %s --random 2>&1 | filecheck %s
// The kernel adds to an output that nobody has written.
// CHECK: uninitialised-output.mlir:16:3: error: cuvil_gpu.atomic_add: read of uninitialised memory: thread 0 of block 0 at element 0 of argument y
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
  %v = cuvil_gpu.load %x[%thread] : memref<64xf32, 1 : i32>, f32
  cuvil_gpu.atomic_add %v, %y[%thread] : f32, memref<64xf32, 1 : i32>
  cuvil_gpu.return
}
