// RUN: cuvil-opt %s -p lower-gpu-to-nvvm | filecheck %s
// RUN: cuvil-opt %s -p lower-gpu-to-nvvm -t 'ptx{arch=sm_80}' | filecheck %s --check-prefix PTX
// Each block sums its row: lanes by shuffles, warps through shared memory, blocks by an atomic.
// CHECK: llvm.mlir.global internal @row_sum_shared() {{.*}} : !llvm.array<8 x f32>
// CHECK: llvm.func @row_sum(%{{.*}}: !llvm.ptr<1>, %{{.*}}: !llvm.ptr<1>, %{{.*}}: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 256, 1, 1>}
// CHECK: nvvm.read.ptx.sreg.tid.x : i32
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64{{.*}}} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-COUNT-5: nvvm.shfl.sync bfly
// CHECK: nvvm.barrier0
// CHECK: red.relaxed.gpu.global.add.f32
// PTX: .visible .entry row_sum(
// PTX: ld.global.v4.b32
// PTX: shfl.sync.bfly.b32
// PTX: st.shared.b32
// PTX: bar.sync 0;
// PTX: red.relaxed.gpu.global.add.f32
cuvil_gpu.kernel @row_sum threads = [256, 1, 1] {
^bb0(%x: memref<1048576xf32, 1 : i32>, %rows: memref<1024xf32, 1 : i32>, %total: memref<1xf32, 1 : i32>):
  %warps = cuvil_gpu.shared : memref<8xf32, 3 : i32>
  %zero = arith.constant 0 : index
  %four = arith.constant 4 : index
  %five = arith.constant 5 : index
  %eight = arith.constant 8 : index
  %none = arith.constant 0.0 : f32
  %thread = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %block = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %size = "gpu.block_dim"() <{dimension = #gpu<dim x>}> : () -> index
  %lane = "gpu.lane_id"() : () -> index
  %first = arith.muli %block, %size : index
  %number = arith.addi %first, %thread : index
  %i = arith.muli %number, %four : index
  %v = cuvil_gpu.load %x[%i] : memref<1048576xf32, 1 : i32>, vector<4xf32>
  %own = vector.reduction <add>, %v : vector<4xf32> into f32
  %sum = cuvil_gpu.warp_reduce add %own : f32
  %warp = arith.shrui %thread, %five : index
  %leads = arith.cmpi eq, %lane, %zero : index
  scf.if %leads {
    cuvil_gpu.store %sum, %warps[%warp] : f32, memref<8xf32, 3 : i32>
  }
  "gpu.barrier"() : () -> ()
  %is_first_warp = arith.cmpi eq, %warp, %zero : index
  scf.if %is_first_warp {
    %has_part = arith.cmpi ult, %lane, %eight : index
    %part = scf.if %has_part -> (f32) {
      %p = cuvil_gpu.load %warps[%lane] : memref<8xf32, 3 : i32>, f32
      scf.yield %p : f32
    } else {
      scf.yield %none : f32
    }
    %all = cuvil_gpu.warp_reduce add %part : f32
    scf.if %leads {
      cuvil_gpu.store %all, %rows[%block] : f32, memref<1024xf32, 1 : i32>
      cuvil_gpu.atomic_add %all, %total[%zero] : f32, memref<1xf32, 1 : i32>
    }
  }
  cuvil_gpu.return
}
