// RUN: cuvil-opt %S/../../dialects/nvvm/memory.mlir -t ptx | filecheck %s
// Each operation is the instruction of its name; a wait for a parity is a loop around it.
// CHECK: mbarrier.init.shared.b64
// CHECK: fence.mbarrier_init.release.cluster;
// CHECK: mbarrier.arrive.shared.b64
// CHECK: mbarrier.arrive.expect_tx.shared.b64
// CHECK: mbarrier.test_wait.shared.b64
// CHECK: AGAIN:
// CHECK-NEXT: mbarrier.try_wait.parity.shared::cta.b64 done,
// CHECK-NEXT: @!done bra.uni AGAIN;
// CHECK: mbarrier.inval.shared.b64
// CHECK: mapa.shared::cluster.u64
// CHECK: fence.sc.cluster;
// CHECK: fence.proxy.async.shared::cta;
// CHECK: fence.proxy.alias;
// CHECK: cp.async.cg.shared.global [%{{.*}}], [%{{.*}}], 16;
// CHECK: cp.async.ca.shared.global [%{{.*}}], [%{{.*}}], 4, %{{.*}};
// CHECK: cp.async.commit_group;
// CHECK: cp.async.wait_group 1;
// CHECK: cp.async.mbarrier.arrive.shared.b64
// CHECK: prefetch.tensormap
// CHECK: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
// CHECK: cp.async.bulk.tensor.1d.{{.*}}.multicast::cluster.L2::cache_hint
// CHECK: cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group
// CHECK: cp.async.bulk.commit_group;
// CHECK: cp.async.bulk.wait_group.read 1;
