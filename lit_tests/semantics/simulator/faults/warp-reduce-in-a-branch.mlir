// RUN: not cuvil-run %s --random 2>&1 | filecheck %s
// A warp reduces without some of its lanes.
// CHECK: warp-reduce-in-a-branch.mlir:19:{{[0-9]+}}: error: cuvil_gpu.warp_reduce: warp divergence: thread 8 of block 0 does not execute it with its warp
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
  %c = arith.constant 8 : index
  %some = arith.cmpi ult, %thread, %c : index
  scf.if %some {
    %r = cuvil_gpu.warp_reduce add %v : f32
  }
  cuvil_gpu.return
}
