// RUN: cuvil-opt %s -t ptx | filecheck %s
// What neither dialect has is written as it is.
// CHECK: // begin inline asm
// CHECK-NEXT: red.relaxed.gpu.global.add.f32 [%{{.*}}], %{{.*}};
// CHECK-NEXT: // end inline asm
llvm.func @accumulate(%p: !llvm.ptr<1>, %x: f32) {
  llvm.inline_asm has_side_effects "red.relaxed.gpu.global.add.f32 [$0], $1;", "l,f" %p, %x : (!llvm.ptr<1>, f32) -> ()
  llvm.return
}
