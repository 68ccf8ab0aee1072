// RUN: cuvil-opt %s -t 'ptx{arch=sm_90a}' | filecheck %s
// A tensor map is passed by value in the launch's parameters and read there; a kernel says how large its clusters are.
// CHECK: .visible .entry prefetches(
// CHECK-NEXT: .param .align 64 .b8 prefetches_param_0[128]
// CHECK: .reqntid 128, 1, 1
// CHECK: .reqnctapercluster 2, 1, 1
// CHECK-NOT: .local
// CHECK: mov.b64 %[[MAP:.*]], prefetches_param_0;
// CHECK: prefetch.{{.*}}tensormap
llvm.func @prefetches(%map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant})
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>, nvvm.cluster_dim = array<i32: 2, 1, 1>} {
  nvvm.prefetch.tensormap %map : !llvm.ptr
  llvm.return
}
