// RUN: cuvil-opt %s | cuvil-opt | filecheck %s
// RUN: cuvil-opt %s --mlir-print-op-generic | cuvil-opt | filecheck %s
// mbarriers, fences, asynchronous copies: every operation prints and parses back.
// CHECK: nvvm.mbarrier.init.shared %{{.*}}, %{{.*}} : !llvm.ptr<3>, i32
// CHECK: nvvm.fence.mbarrier.init
// CHECK: nvvm.mbarrier.arrive.shared %{{.*}} : !llvm.ptr<3> -> i64
// CHECK: nvvm.mbarrier.arrive.expect_tx.shared %{{.*}}, %{{.*}} : !llvm.ptr<3>, i32
// CHECK: nvvm.mbarrier.test.wait.shared %{{.*}}, %{{.*}} : !llvm.ptr<3>, i64 -> i1
// CHECK: nvvm.mbarrier.try_wait.parity.shared %{{.*}}, %{{.*}}, %{{.*}} : !llvm.ptr<3>, i32, i32
// CHECK: nvvm.mbarrier.inval.shared %{{.*}} : !llvm.ptr<3>
// CHECK: nvvm.mapa %{{.*}}, %{{.*}} : !llvm.ptr<3> -> !llvm.ptr<7>
// CHECK: nvvm.fence.sc.cluster
// CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
// CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<alias>}
// CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
// CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 4, cache = ca, %{{.*}} : !llvm.ptr<3>, !llvm.ptr<1>
// CHECK: nvvm.cp.async.commit.group
// CHECK: nvvm.cp.async.wait.group 1
// CHECK: nvvm.cp.async.mbarrier.arrive.shared %{{.*}} : !llvm.ptr<3>
// CHECK: nvvm.prefetch.tensormap %{{.*}} : !llvm.ptr
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %{{.*}}, %{{.*}}, box[%{{.*}}, %{{.*}}] : !llvm.ptr<7>, !llvm.ptr
// CHECK: box[%{{.*}}] multicast_mask = %{{.*}} l2_cache_hint = %{{.*}} : !llvm.ptr<7>, !llvm.ptr
// CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta %{{.*}}, %{{.*}}, box[%{{.*}}, %{{.*}}] : !llvm.ptr, !llvm.ptr<3>
// CHECK: nvvm.cp.async.bulk.commit.group
// CHECK: nvvm.cp.async.bulk.wait_group 1 {read}
llvm.func @ops(%b: !llvm.ptr<3>, %n: i32, %g: !llvm.ptr<1>, %map: !llvm.ptr, %m: i16, %h: i64) {
  nvvm.mbarrier.init.shared %b, %n : !llvm.ptr<3>, i32
  nvvm.fence.mbarrier.init
  %0 = nvvm.mbarrier.arrive.shared %b : !llvm.ptr<3> -> i64
  nvvm.mbarrier.arrive.expect_tx.shared %b, %n : !llvm.ptr<3>, i32
  %1 = nvvm.mbarrier.test.wait.shared %b, %0 : !llvm.ptr<3>, i64 -> i1
  nvvm.mbarrier.try_wait.parity.shared %b, %n, %n : !llvm.ptr<3>, i32, i32
  nvvm.mbarrier.inval.shared %b : !llvm.ptr<3>
  %2 = nvvm.mapa %b, %n : !llvm.ptr<3> -> !llvm.ptr<7>
  nvvm.fence.sc.cluster
  nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
  nvvm.fence.proxy {kind = #nvvm.proxy_kind<alias>}
  nvvm.cp.async.shared.global %b, %g, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
  nvvm.cp.async.shared.global %b, %g, 4, cache = ca, %n : !llvm.ptr<3>, !llvm.ptr<1>
  nvvm.cp.async.commit.group
  nvvm.cp.async.wait.group 1
  nvvm.cp.async.mbarrier.arrive.shared %b : !llvm.ptr<3>
  nvvm.prefetch.tensormap %map : !llvm.ptr
  nvvm.cp.async.bulk.tensor.shared.cluster.global %2, %map, %b, box[%n, %n] : !llvm.ptr<7>, !llvm.ptr
  nvvm.cp.async.bulk.tensor.shared.cluster.global %2, %map, %b, box[%n] multicast_mask = %m l2_cache_hint = %h : !llvm.ptr<7>, !llvm.ptr
  nvvm.cp.async.bulk.tensor.global.shared.cta %map, %b, box[%n, %n] : !llvm.ptr, !llvm.ptr<3>
  nvvm.cp.async.bulk.commit.group
  nvvm.cp.async.bulk.wait_group 1 {read}
  llvm.return
}
