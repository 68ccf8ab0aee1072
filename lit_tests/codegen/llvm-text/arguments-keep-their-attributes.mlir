// RUN: cuvil-opt %s -t llvm | filecheck %s
// CHECK: define internal void @k(ptr noalias align 64 %v0, ptr %v1) #0 {
// CHECK: attributes #0 = { nounwind
llvm.func internal @k(%a: !llvm.ptr {llvm.noalias, llvm.align = 64 : i64}, %b: !llvm.ptr) {
  llvm.return
}
