// RUN: cuvil-opt %s -t 'ptx{arch=sm_90}' | filecheck %s
// Shared memory of a static size, and the dynamic part that the launch gives.
// CHECK: .extern .shared .align 1024 .b8 dynamic[];
// CHECK: .shared .align 16 .b8 tile[512];
// CHECK: st.shared.b32
// CHECK: bar.sync 0;
// CHECK: ld.shared.b32
"llvm.mlir.global"() <{addr_space = 3 : i32, alignment = 16 : i64, global_type = !llvm.array<128 x f32>, linkage = #llvm.linkage<"internal">, sym_name = "tile", visibility_ = 0 : i64}> ({}) : () -> ()
"llvm.mlir.global"() <{addr_space = 3 : i32, alignment = 1024 : i64, global_type = !llvm.array<0 x i8>, linkage = #llvm.linkage<"external">, sym_name = "dynamic", visibility_ = 0 : i64}> ({}) : () -> ()
llvm.func @turn(%x: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
  %dynamic = llvm.mlir.addressof @dynamic : !llvm.ptr<3>
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %last = llvm.mlir.constant(127 : i32) : i32
  %other = llvm.sub %last, %tid : i32
  %px = llvm.getelementptr %x[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  %v = llvm.load %px : !llvm.ptr<1> -> f32
  %pt = llvm.getelementptr %tile[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
  llvm.store %v, %pt : f32, !llvm.ptr<3>
  nvvm.barrier0
  %po = llvm.getelementptr %tile[%other] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
  %w = llvm.load %po : !llvm.ptr<3> -> f32
  llvm.store %w, %px : f32, !llvm.ptr<1>
  %pd = llvm.getelementptr %dynamic[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
  llvm.store %w, %pd : f32, !llvm.ptr<3>
  llvm.return
}
