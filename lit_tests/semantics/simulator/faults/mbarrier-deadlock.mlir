// RUN: not cuvil-run %s --random 2>&1 | filecheck %s
// The mbarrier expects one arrival more than there is.
// CHECK: mbarrier-deadlock.mlir:24:3: error: cuvil_gpu.mbarrier_wait: deadlock: warp 0 of block 0 waits for ever
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
  %b = cuvil_gpu.shared : memref<1xi64, 3 : i32>
  %c = arith.constant 33 : i32
  %p = arith.constant 0 : i32
  %leads = arith.cmpi eq, %thread, %zero : index
  scf.if %leads {
    cuvil_gpu.mbarrier_init %b[%zero], %c : memref<1xi64, 3 : i32>
  }
  "gpu.barrier"() : () -> ()
  cuvil_gpu.mbarrier_arrive %b[%zero] : memref<1xi64, 3 : i32>
  cuvil_gpu.mbarrier_wait %b[%zero], %p : memref<1xi64, 3 : i32>
  cuvil_gpu.return
}
