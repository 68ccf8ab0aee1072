// RUN: cuvil-opt %s -t llvm | filecheck %s
// CHECK: @table = internal constant [2 x float] [float 0x3FF0000000000000, float 0x4000000000000000], align 64
// CHECK: declare void @callee(ptr, ptr) #0
// CHECK: call void @callee(ptr @table, ptr %v0)
// CHECK: call void %v0(ptr @table)
llvm.mlir.global internal constant @table(dense<[1.0, 2.0]> : tensor<2xf32>) {alignment = 64 : i64, addr_space = 0 : i32} : !llvm.array<2 x f32>
llvm.func @callee(!llvm.ptr, !llvm.ptr)
llvm.func @caller(%f: !llvm.ptr) {
  %t = llvm.mlir.addressof @table : !llvm.ptr
  llvm.call @callee(%t, %f) : (!llvm.ptr, !llvm.ptr) -> ()
  llvm.call %f(%t) : !llvm.ptr, (!llvm.ptr) -> ()
  llvm.return
}
