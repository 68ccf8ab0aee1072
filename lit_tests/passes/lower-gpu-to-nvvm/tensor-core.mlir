// RUN: cuvil-opt %s -p lower-gpu-to-nvvm | filecheck %s
// RUN: cuvil-opt %s -p lower-gpu-to-nvvm -t 'ptx{arch=sm_80}' | filecheck %s --check-prefix PTX
// Asynchronous copies of 16 bytes, fragments from shared memory, the product, each as one instruction.
// CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg
// CHECK: nvvm.cp.async.commit.group
// CHECK: nvvm.cp.async.wait.group 0
// CHECK: nvvm.bar.warp.sync
// CHECK: nvvm.ldmatrix %{{.*}} {num = 4 : i32, layout = #nvvm.mma_layout<row>}
// CHECK: nvvm.ldmatrix %{{.*}} {num = 2 : i32, layout = #nvvm.mma_layout<col>}
// CHECK: nvvm.mma.sync A[{{.*}}] B[{{.*}}] C[{{.*}}] {{.*}}multiplicandAPtxType = #nvvm.mma_type<bf16>
// CHECK: nvvm.shfl.sync bfly
// PTX: cp.async.cg.shared.global
// PTX: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// PTX: ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16
// PTX: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// PTX: shfl.sync.bfly.b32
cuvil_gpu.kernel @product threads = [32, 1, 1] {
^bb0(%a: memref<256xbf16, 1 : i32>, %c: memref<128xf32, 1 : i32>, %i: index, %n: i32):
  %s = cuvil_gpu.shared : memref<256xbf16, 3 : i32>
  cuvil_gpu.copy_async %a[%i], %s[%i] elements = 8 : memref<256xbf16, 1 : i32>, memref<256xbf16, 3 : i32>
  cuvil_gpu.commit_copies
  cuvil_gpu.wait_copies in_flight = 0
  cuvil_gpu.warp_sync
  %fa = cuvil_gpu.load_matrix %s[%i] matrices = 4 : memref<256xbf16, 3 : i32>, vector<8xbf16>
  %fb = cuvil_gpu.load_matrix %s[%i] matrices = 2 transposed : memref<256xbf16, 3 : i32>, vector<4xbf16>
  %zero = arith.constant dense<0.0> : vector<4xf32>
  %r = cuvil_gpu.mma %fa, %fb, %zero : vector<8xbf16>, vector<4xbf16>, vector<4xf32> -> vector<4xf32>
  %e = vector.extract %r[0] : f32 from vector<4xf32>
  %o = cuvil_gpu.warp_shuffle xor %e, %n : f32
  cuvil_gpu.store %o, %c[%i] : f32, memref<128xf32, 1 : i32>
  cuvil_gpu.return
}
