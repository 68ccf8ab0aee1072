// RUN: cuvil-run %s --input 'dense<1.5> : tensor<2048xf32>' | filecheck %s
// Blocks of 64 threads sum 512 elements each: lanes by shuffles, warps through shared memory.
// CHECK: result 0 : tensor<4xf32> = [768, 768, 768, 768]
func.func @main(%x: memref<2048xf32, 1 : i32>, %rows: memref<4xf32, 1 : i32>) attributes {cuvil_fused.outputs = 1 : i64} {
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  cuvil_gpu.launch @sums blocks = (%four, %one, %one) (%x, %rows) : memref<2048xf32, 1 : i32>, memref<4xf32, 1 : i32>
  func.return
}
cuvil_gpu.kernel @sums threads = [64, 1, 1] {
^bb0(%x: memref<2048xf32, 1 : i32>, %rows: memref<4xf32, 1 : i32>):
  %warps = cuvil_gpu.shared : memref<2xf32, 3 : i32>
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %length = arith.constant 512 : index
  %step = arith.constant 256 : index
  %none = arith.constant 0.0 : f32
  %thread = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %block = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %lane = "gpu.lane_id"() : () -> index
  %begin = arith.muli %thread, %four : index
  %row = arith.muli %block, %length : index
  %own = scf.for %i = %begin to %length step %step iter_args(%sum = %none) -> (f32) {
    %place = arith.addi %row, %i : index
    %v = cuvil_gpu.load %x[%place] : memref<2048xf32, 1 : i32>, vector<4xf32>
    %part = vector.reduction <add>, %v : vector<4xf32> into f32
    %next = arith.addf %sum, %part : f32
    scf.yield %next : f32
  }
  %sum = cuvil_gpu.warp_reduce add %own : f32
  %thirtytwo = arith.constant 32 : index
  %warp = arith.divui %thread, %thirtytwo : index
  %leads = arith.cmpi eq, %lane, %zero : index
  scf.if %leads {
    cuvil_gpu.store %sum, %warps[%warp] : f32, memref<2xf32, 3 : i32>
  }
  "gpu.barrier"() : () -> ()
  %is_first = arith.cmpi eq, %thread, %zero : index
  scf.if %is_first {
    %a = cuvil_gpu.load %warps[%zero] : memref<2xf32, 3 : i32>, f32
    %b = cuvil_gpu.load %warps[%one] : memref<2xf32, 3 : i32>, f32
    %all = arith.addf %a, %b : f32
    cuvil_gpu.store %all, %rows[%block] : f32, memref<4xf32, 1 : i32>
  }
  cuvil_gpu.return
}
