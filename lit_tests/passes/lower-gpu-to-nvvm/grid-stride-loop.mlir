// RUN: cuvil-opt %s -p lower-gpu-to-nvvm | filecheck %s
// RUN: cuvil-opt %s -p lower-gpu-to-nvvm -t 'ptx{arch=sm_90}' | filecheck %s --check-prefix PTX
// An element-wise kernel of any size: accesses of 16 bytes, one grid after the other. No generic addresses are left.
// CHECK: llvm.func @scale_add(%{{.*}}: !llvm.ptr<1>, %{{.*}}: !llvm.ptr<1>, %{{.*}}: i64, %{{.*}}: f32) attributes {nvvm.kernel
// CHECK: nvvm.read.ptx.sreg.nctaid.x : i32
// CHECK: llvm.intr.fma
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64{{.*}}} : vector<4xf32>, !llvm.ptr<1>
// PTX-NOT: ld.b32
// PTX: ld.global.v4.b32
// PTX: fma.rn.f32
// PTX: st.global.v4.b32
cuvil_gpu.kernel @scale_add threads = [256, 1, 1] {
^bb0(%x: memref<?xf32, 1 : i32>, %y: memref<?xf32, 1 : i32>, %size: index, %factor: f32):
  %four = arith.constant 4 : index
  %thread = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %block = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %block_size = "gpu.block_dim"() <{dimension = #gpu<dim x>}> : () -> index
  %blocks = "gpu.grid_dim"() <{dimension = #gpu<dim x>}> : () -> index
  %before = arith.muli %block, %block_size : index
  %number = arith.addi %before, %thread : index
  %start = arith.muli %number, %four : index
  %all = arith.muli %blocks, %block_size : index
  %step = arith.muli %all, %four : index
  %factors = vector.broadcast %factor : f32 to vector<4xf32>
  scf.for %i = %start to %size step %step {
    %v = cuvil_gpu.load %x[%i] : memref<?xf32, 1 : i32>, vector<4xf32>
    %w = cuvil_gpu.load %y[%i] : memref<?xf32, 1 : i32>, vector<4xf32>
    %r = vector.fma %v, %factors, %w : vector<4xf32>
    cuvil_gpu.store %r, %y[%i] : vector<4xf32>, memref<?xf32, 1 : i32>
  }
  cuvil_gpu.return
}
