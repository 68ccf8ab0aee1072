// RUN: not cuvil-run %s --random 2>&1 | filecheck %s
// A vector of four begins at an odd element.
// CHECK: misaligned.mlir:18:{{[0-9]+}}: error: cuvil_gpu.load: misaligned access: thread 0 of block 0 at element 1 of argument x, 4 elements at once
func.func @main(%x: memref<64xf32, 1 : i32>, %y: memref<64xf32, 1 : i32>) attributes {cuvil_fused.outputs = 1 : i64} {
  %one = arith.constant 1 : index
  %blocks = arith.constant 1 : index
  cuvil_gpu.launch @k blocks = (%blocks, %one, %one) (%x, %y) : memref<64xf32, 1 : i32>, memref<64xf32, 1 : i32>
  func.return
}
cuvil_gpu.kernel @k threads = [8, 1, 1] {
^bb0(%x: memref<64xf32, 1 : i32>, %y: memref<64xf32, 1 : i32>):
  %thread = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %m = arith.muli %thread, %four : index
  %i = arith.addi %m, %one : index
  %v = cuvil_gpu.load %x[%i] : memref<64xf32, 1 : i32>, vector<4xf32>
  cuvil_gpu.return
}
