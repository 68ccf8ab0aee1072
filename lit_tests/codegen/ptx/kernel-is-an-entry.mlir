// RUN: cuvil-opt %s -t 'ptx{arch=sm_80}' | filecheck %s
// A kernel is an entry with the block's size; a vector of four floats is one access of 16 bytes.
// CHECK: .target sm_80
// CHECK: .visible .entry add(
// CHECK: .reqntid 128, 1, 1
// CHECK: mov.u32 %{{.*}}, %tid.x;
// CHECK: ld.global.v4.b32
// CHECK: ld.global.v4.b32
// CHECK: st.global.v4.b32
llvm.func @add(%a: !llvm.ptr<1>, %b: !llvm.ptr<1>, %c: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %block = nvvm.read.ptx.sreg.ctaid.x : i32
  %size = nvvm.read.ptx.sreg.ntid.x : i32
  %first = llvm.mul %block, %size : i32
  %i = llvm.add %first, %tid : i32
  %pa = llvm.getelementptr %a[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<4xf32>
  %pb = llvm.getelementptr %b[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<4xf32>
  %pc = llvm.getelementptr %c[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<4xf32>
  %x = llvm.load %pa {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
  %y = llvm.load %pb {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
  %z = llvm.fadd %x, %y : vector<4xf32>
  llvm.store %z, %pc {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
  llvm.return
}
