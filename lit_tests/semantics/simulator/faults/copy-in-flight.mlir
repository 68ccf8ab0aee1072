// RUN: not cuvil-run %s --random 2>&1 | filecheck %s
// A thread reads what its copy may still be writing.
// CHECK: copy-in-flight.mlir:21:{{[0-9]+}}: error: cuvil_gpu.load: access to memory of an unfinished copy: thread 0 of block 0 at element 0 of a shared buffer
func.func @main(%x: memref<64xf32, 1 : i32>, %y: memref<64xf32, 1 : i32>) attributes {cuvil_fused.outputs = 1 : i64} {
  %one = arith.constant 1 : index
  %blocks = arith.constant 1 : index
  cuvil_gpu.launch @k blocks = (%blocks, %one, %one) (%x, %y) : memref<64xf32, 1 : i32>, memref<64xf32, 1 : i32>
  func.return
}
cuvil_gpu.kernel @k threads = [16, 1, 1] {
^bb0(%x: memref<64xf32, 1 : i32>, %y: memref<64xf32, 1 : i32>):
  %thread = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %s = cuvil_gpu.shared : memref<64xf32, 3 : i32>
  %four = arith.constant 4 : index
  %i = arith.muli %thread, %four : index
  cuvil_gpu.copy_async %x[%i], %s[%i] elements = 4 : memref<64xf32, 1 : i32>, memref<64xf32, 3 : i32>
  cuvil_gpu.commit_copies
  cuvil_gpu.wait_copies in_flight = 1
  %v = cuvil_gpu.load %s[%i] : memref<64xf32, 3 : i32>, f32
  cuvil_gpu.return
}
