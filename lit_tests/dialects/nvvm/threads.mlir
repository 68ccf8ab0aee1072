// RUN: cuvil-opt %s | cuvil-opt | filecheck %s
// RUN: cuvil-opt %s --mlir-print-op-generic | cuvil-opt | filecheck %s
// Who a thread is, warps, barriers: every operation prints and parses back.
// CHECK: nvvm.read.ptx.sreg.tid.x : i32
// CHECK: nvvm.read.ptx.sreg.laneid : i32
// CHECK: nvvm.read.ptx.sreg.cluster.ctarank : i32
// CHECK: nvvm.shfl.sync bfly %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : f32 -> f32
// CHECK: nvvm.shfl.sync idx %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {return_value_and_is_valid} : i32 -> !llvm.struct<(i32, i1)>
// CHECK: nvvm.vote.sync ballot %{{.*}}, %{{.*}} -> i32
// CHECK: nvvm.vote.sync any %{{.*}}, %{{.*}} -> i1
// CHECK: nvvm.redux.sync umax %{{.*}}, %{{.*}} : i32 -> i32
// CHECK: nvvm.bar.warp.sync %{{.*}} : i32
// CHECK: nvvm.elect.sync -> i1
// CHECK: nvvm.barrier0
// CHECK: nvvm.barrier{{$}}
// CHECK: nvvm.barrier id = %{{.*}} number_of_threads = %{{.*}}
// CHECK: nvvm.barrier.arrive id = %{{.*}} number_of_threads = %{{.*}}
// CHECK: nvvm.cluster.arrive{{$}}
// CHECK: nvvm.cluster.arrive.relaxed {aligned}
// CHECK: nvvm.cluster.wait {aligned}
// CHECK: nvvm.setmaxregister decrease 40
// CHECK: nvvm.griddepcontrol wait
// CHECK: nvvm.griddepcontrol launch_dependents
// CHECK: nvvm.rcp.approx.ftz.f %{{.*}} : f32
llvm.func @ops(%mask: i32, %f: f32, %n: i32, %p: i1) {
  %0 = nvvm.read.ptx.sreg.tid.x : i32
  %1 = nvvm.read.ptx.sreg.laneid : i32
  %2 = nvvm.read.ptx.sreg.cluster.ctarank : i32
  %3 = nvvm.shfl.sync bfly %mask, %f, %n, %n : f32 -> f32
  %4 = nvvm.shfl.sync idx %mask, %n, %n, %n {return_value_and_is_valid} : i32 -> !llvm.struct<(i32, i1)>
  %5 = nvvm.vote.sync ballot %mask, %p -> i32
  %6 = nvvm.vote.sync any %mask, %p -> i1
  %7 = nvvm.redux.sync umax %n, %mask : i32 -> i32
  nvvm.bar.warp.sync %mask : i32
  %8 = nvvm.elect.sync -> i1
  nvvm.barrier0
  nvvm.barrier
  nvvm.barrier id = %n number_of_threads = %n
  nvvm.barrier.arrive id = %n number_of_threads = %n
  nvvm.cluster.arrive
  nvvm.cluster.arrive.relaxed {aligned}
  nvvm.cluster.wait {aligned}
  nvvm.setmaxregister decrease 40
  nvvm.griddepcontrol wait
  nvvm.griddepcontrol launch_dependents
  %9 = nvvm.rcp.approx.ftz.f %f : f32
  llvm.return
}
