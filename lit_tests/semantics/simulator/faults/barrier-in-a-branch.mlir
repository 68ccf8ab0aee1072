// RUN: not cuvil-run %s --random 2>&1 | filecheck %s
// Only some threads of a warp come to the barrier.
// CHECK: barrier-in-a-branch.mlir:18:5: error: gpu.barrier: barrier divergence: thread 40 of block 0 is in another branch
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
  %c = arith.constant 40 : index
  %some = arith.cmpi ult, %thread, %c : index
  scf.if %some {
    "gpu.barrier"() : () -> ()
  }
  cuvil_gpu.return
}
