// RUN: cuvil-opt %S/../../dialects/nvvm/threads.mlir -t ptx | filecheck %s
// Each operation is the instruction of its name.
// CHECK: shfl.sync.bfly.b32
// CHECK-NEXT: shfl.sync.idx.b32 %{{.*}}|%{{.*}}
// CHECK-NEXT: vote.sync.ballot.b32
// CHECK-NEXT: vote.sync.any.pred
// CHECK-NEXT: redux.sync.max.u32
// CHECK-NEXT: bar.warp.sync
// CHECK-NEXT: elect.sync
// CHECK-NEXT: bar.sync 0;
// CHECK-NEXT: bar.sync 0;
// CHECK-NEXT: bar.sync %{{.*}}, %{{.*}};
// CHECK-NEXT: bar.arrive %{{.*}}, %{{.*}};
// CHECK-NEXT: barrier.cluster.arrive;
// CHECK-NEXT: barrier.cluster.arrive.relaxed.aligned;
// CHECK-NEXT: barrier.cluster.wait.aligned;
// CHECK-NEXT: setmaxnreg.dec.sync.aligned.u32 40;
// CHECK-NEXT: griddepcontrol.wait;
// CHECK-NEXT: griddepcontrol.launch_dependents;
