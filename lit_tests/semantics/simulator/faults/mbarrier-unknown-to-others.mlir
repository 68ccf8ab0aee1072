// RUN: not cuvil-run %s --random 2>&1 | filecheck %s
// No barrier lets the other warp know that the mbarrier has been started.
// CHECK: mbarrier-unknown-to-others.mlir:21:3: error: cuvil_gpu.mbarrier_arrive: data race: thread 1 of block 0 at element 0 of a shared buffer, which was written by thread 0 of block 0
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
  %b = cuvil_gpu.shared : memref<1xi64, 3 : i32>
  %c = arith.constant 64 : i32
  %leads = arith.cmpi eq, %thread, %zero : index
  scf.if %leads {
    cuvil_gpu.mbarrier_init %b[%zero], %c : memref<1xi64, 3 : i32>
  }
  cuvil_gpu.mbarrier_arrive %b[%zero] : memref<1xi64, 3 : i32>
  cuvil_gpu.return
}
