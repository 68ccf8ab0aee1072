// RUN: cuvil-opt %S/../../dialects/nvvm/matrix.mlir -t ptx | filecheck %s
// A warpgroup's product is inline PTX, since LLVM has no intrinsic; D's scale is its predicate.
// CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK: ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16
// CHECK: stmatrix.sync.aligned.m8n8.x2.shared.b16
// CHECK: wgmma.fence.sync.aligned;
// CHECK: setp.ne.b32 p, 0, 0;
// CHECK-NEXT: wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}}, %rd{{[0-9]+}}, %rd{{[0-9]+}}, p, 1, 1, 0, 0;
// CHECK: wgmma.commit_group.sync.aligned;
// CHECK: wgmma.wait_group.sync.aligned 0;
