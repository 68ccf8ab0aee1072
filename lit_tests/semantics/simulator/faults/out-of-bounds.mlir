// RUN: not cuvil-run %s --random 2>&1 | filecheck %s
// The last vector ends behind the buffer.
// CHECK: out-of-bounds.mlir:17:{{[0-9]+}}: error: cuvil_gpu.load: access out of bounds: thread 16 of block 0 at element 64 of argument x, which has 64
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
  %four = arith.constant 4 : index
  %i = arith.muli %thread, %four : index
  %v = cuvil_gpu.load %x[%i] : memref<64xf32, 1 : i32>, vector<4xf32>
  cuvil_gpu.return
}
