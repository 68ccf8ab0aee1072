// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// What the verifier of each operation refuses.

llvm.func @shuffle(%m: i32, %f: f32) {
  // expected-error @+1 {{nvvm.shfl.sync: expected a result of type f32, got i32}}
  %0 = nvvm.shfl.sync bfly %m, %f, %m, %m : f32 -> i32
  llvm.return
}

// -----

llvm.func @vote(%m: i32, %p: i1) {
  // expected-error @+1 {{nvvm.vote.sync: 'ballot' gives i32, got i1}}
  %0 = nvvm.vote.sync ballot %m, %p -> i1
  llvm.return
}

// -----

llvm.func @barrier(%n: i32) {
  // expected-error @+1 {{nvvm.barrier: a number of threads needs a barrier id}}
  nvvm.barrier number_of_threads = %n
  llvm.return
}

// -----

llvm.func @registers() {
  // expected-error @+1 {{nvvm.setmaxregister: expected a multiple of 8 in 24..256, got 41}}
  nvvm.setmaxregister decrease 41
  llvm.return
}

// -----

llvm.func @mbarrier(%b: !llvm.ptr<1>, %n: i32) {
  // expected-error @+1 {{nvvm.mbarrier.init.shared: expected an mbarrier of type !llvm.ptr<3>, got !llvm.ptr<1>}}
  nvvm.mbarrier.init.shared %b, %n : !llvm.ptr<1>, i32
  llvm.return
}

// -----

llvm.func @mapa(%b: !llvm.ptr<3>, %n: i32) {
  // expected-error @+1 {{nvvm.mapa: expected a result of type !llvm.ptr<7>, got !llvm.ptr<3>}}
  %0 = nvvm.mapa %b, %n : !llvm.ptr<3> -> !llvm.ptr<3>
  llvm.return
}

// -----

llvm.func @proxy_without_space() {
  // expected-error @+1 {{nvvm.fence.proxy: 'async.shared' needs a space}}
  nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>}
  llvm.return
}

// -----

llvm.func @proxy_with_space() {
  // expected-error @+1 {{nvvm.fence.proxy: only 'async.shared' has a space, got 'alias'}}
  nvvm.fence.proxy {kind = #nvvm.proxy_kind<alias>, space = #nvvm.shared_space<cta>}
  llvm.return
}

// -----

llvm.func @copy_size(%s: !llvm.ptr<3>, %g: !llvm.ptr<1>) {
  // expected-error @+1 {{nvvm.cp.async.shared.global: expected a size of 4, 8 or 16 bytes, got 12}}
  nvvm.cp.async.shared.global %s, %g, 12, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
  llvm.return
}

// -----

llvm.func @copy_cache(%s: !llvm.ptr<3>, %g: !llvm.ptr<1>) {
  // expected-error @+1 {{nvvm.cp.async.shared.global: 'cg' copies 16 bytes, got 8}}
  nvvm.cp.async.shared.global %s, %g, 8, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
  llvm.return
}

// -----

llvm.func @groups() {
  // expected-error @+1 {{nvvm.cp.async.wait.group: expected a number of groups, got -1}}
  nvvm.cp.async.wait.group -1
  llvm.return
}

// -----

llvm.func @box(%d: !llvm.ptr<7>, %map: !llvm.ptr, %b: !llvm.ptr<3>, %n: i32) {
  // expected-error @+1 {{nvvm.cp.async.bulk.tensor.shared.cluster.global: expected 1 to 5 coordinates, got 6}}
  nvvm.cp.async.bulk.tensor.shared.cluster.global %d, %map, %b, box[%n, %n, %n, %n, %n, %n] : !llvm.ptr<7>, !llvm.ptr
  llvm.return
}

// -----

llvm.func @ldmatrix(%p: !llvm.ptr<3>) {
  // expected-error @+1 {{nvvm.ldmatrix: expected 1, 2 or 4 matrices, got 3}}
  %0 = nvvm.ldmatrix %p {num = 3 : i32, layout = #nvvm.mma_layout<row>} : (!llvm.ptr<3>) -> i32
  llvm.return
}

// -----

llvm.func @stmatrix(%p: !llvm.ptr<3>, %r: i32) {
  // expected-error @+1 {{nvvm.stmatrix: expected 1, 2 or 4 matrices, got 3}}
  nvvm.stmatrix %p, %r, %r, %r {layout = #nvvm.mma_layout<row>} : !llvm.ptr<3>, i32, i32, i32
  llvm.return
}

// -----

llvm.func @mma_registers(%h: vector<2xf16>, %f: f32) {
  // expected-error @+1 {{nvvm.mma.sync: expected 4 registers of A, got 2}}
  %0 = nvvm.mma.sync A[%h, %h] B[%h, %h] C[%f, %f, %f, %f]
    {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 16>}
    : (vector<2xf16>, vector<2xf16>, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  llvm.return
}

// -----

llvm.func @mma_type(%r: i32, %f: f32) {
  // expected-error @+1 {{nvvm.mma.sync: registers of i32 need multiplicandAPtxType}}
  %0 = nvvm.mma.sync A[%r, %r, %r, %r] B[%r, %r] C[%f, %f, %f, %f]
    {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 16>}
    : (i32, i32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  llvm.return
}

// -----

llvm.func @wgmma_depth(%d: i64, %acc: !llvm.struct<(f32, f32, f32, f32)>) {
  // expected-error @+1 {{nvvm.wgmma.mma_async: k of 'tf32' is 8, got 16}}
  %0 = nvvm.wgmma.mma_async %d, %d, %acc, <m = 64, n = 8, k = 16>, D[<f32>, <one>], A[<tf32>, <one>, <row>], B[<tf32>, <one>, <col>] : !llvm.struct<(f32, f32, f32, f32)> -> !llvm.struct<(f32, f32, f32, f32)>
  llvm.return
}

// -----

llvm.func @wgmma_accumulators(%d: i64, %acc: !llvm.struct<(f32, f32, f32, f32)>) {
  // expected-error @+1 {{nvvm.wgmma.mma_async: expected 8 accumulators of f32}}
  %0 = nvvm.wgmma.mma_async %d, %d, %acc, <m = 64, n = 16, k = 16>, D[<f32>, <one>], A[<bf16>, <one>, <row>], B[<bf16>, <one>, <col>] : !llvm.struct<(f32, f32, f32, f32)> -> !llvm.struct<(f32, f32, f32, f32)>
  llvm.return
}
