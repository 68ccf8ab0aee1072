// RUN: not cuvil-run %s --random 2>&1 | filecheck %s
// A waited for its own copies only; those of other threads need a barrier.
// CHECK: copy-of-another-thread.mlir:21:{{[0-9]+}}: error: cuvil_gpu.load: data race: thread 0 of block 0 at element 31 of a shared buffer, which was written by thread 31 of block 0
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
  %c = arith.constant 31 : index
  cuvil_gpu.copy_async %x[%thread], %s[%thread] elements = 1 : memref<64xf32, 1 : i32>, memref<64xf32, 3 : i32>
  cuvil_gpu.commit_copies
  cuvil_gpu.wait_copies in_flight = 0
  %other = arith.subi %c, %thread : index
  %v = cuvil_gpu.load %s[%other] : memref<64xf32, 3 : i32>, f32
  cuvil_gpu.return
}
