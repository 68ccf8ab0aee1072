// RUN: cuvil-opt %s -p lower-gpu-to-nvvm | filecheck %s
// RUN: cuvil-opt %s -p lower-gpu-to-nvvm -t 'ptx{arch=sm_80}' | filecheck %s --check-prefix PTX
// Atomics on shared memory within a block, then on global memory; and a reduction of integers.
// CHECK: llvm.mlir.global internal @histogram_shared() {{.*}} : !llvm.array<32 x i32>
// CHECK: red.relaxed.cta.shared.add.s32
// CHECK: red.relaxed.gpu.global.add.s32
// CHECK: nvvm.shfl.sync bfly %{{.*}} : i32 -> i32
// CHECK-NEXT: llvm.call_intrinsic "llvm.smax"
// PTX: red.relaxed.cta.shared.add.s32
// PTX: bar.sync 0;
// PTX: red.relaxed.gpu.global.add.s32
// PTX: max.s32
cuvil_gpu.kernel @histogram threads = [32, 1, 1] {
^bb0(%x: memref<4096xi32, 1 : i32>, %counts: memref<32xi32, 1 : i32>, %most: memref<128xi32, 1 : i32>):
  %bins = cuvil_gpu.shared : memref<32xi32, 3 : i32>
  %none = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %mask = arith.constant 31 : i32
  %thread = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %block = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %block_size = "gpu.block_dim"() <{dimension = #gpu<dim x>}> : () -> index
  %before = arith.muli %block, %block_size : index
  %i = arith.addi %before, %thread : index
  cuvil_gpu.store %none, %bins[%thread] : i32, memref<32xi32, 3 : i32>
  "gpu.barrier"() : () -> ()
  %v = memref.load %x[%i] : memref<4096xi32, 1 : i32>
  %low = arith.andi %v, %mask : i32
  %bin = arith.index_cast %low : i32 to index
  cuvil_gpu.atomic_add %one, %bins[%bin] : i32, memref<32xi32, 3 : i32>
  "gpu.barrier"() : () -> ()
  %count = cuvil_gpu.load %bins[%thread] : memref<32xi32, 3 : i32>, i32
  cuvil_gpu.atomic_add %count, %counts[%thread] : i32, memref<32xi32, 1 : i32>
  %largest = cuvil_gpu.warp_reduce max %v : i32
  cuvil_gpu.store %largest, %most[%block] : i32, memref<128xi32, 1 : i32>
  cuvil_gpu.return
}
