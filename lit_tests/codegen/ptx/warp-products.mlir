// RUN: cuvil-opt %s -t 'ptx{arch=sm_80}' | filecheck %s
// The types of a warp's product come from its registers and from what PTX calls them.
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// CHECK: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
llvm.func @products(%h: vector<2xf16>, %r: i32, %f: f32, %out: !llvm.ptr<1>) {
  %0 = nvvm.mma.sync A[%h, %h, %h, %h] B[%h, %h] C[%f, %f, %f, %f]
    {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 16>}
    : (vector<2xf16>, vector<2xf16>, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  %1 = llvm.extractvalue %0[0] : !llvm.struct<(f32, f32, f32, f32)>
  %2 = nvvm.mma.sync A[%r, %r, %r, %r] B[%r, %r] C[%1, %1, %1, %1]
    {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 16>,
     multiplicandAPtxType = #nvvm.mma_type<bf16>, multiplicandBPtxType = #nvvm.mma_type<bf16>}
    : (i32, i32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  %3 = llvm.extractvalue %2[1] : !llvm.struct<(f32, f32, f32, f32)>
  %4 = nvvm.mma.sync A[%r, %r, %r, %r] B[%r, %r] C[%3, %3, %3, %3]
    {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 8>,
     multiplicandAPtxType = #nvvm.mma_type<tf32>, multiplicandBPtxType = #nvvm.mma_type<tf32>}
    : (i32, i32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  %5 = llvm.extractvalue %4[2] : !llvm.struct<(f32, f32, f32, f32)>
  llvm.store %5, %out : f32, !llvm.ptr<1>
  llvm.return
}
