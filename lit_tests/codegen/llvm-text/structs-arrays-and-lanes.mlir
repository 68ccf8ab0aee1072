// RUN: cuvil-opt %s -t llvm | filecheck %s
// CHECK: %[[P:.*]] = getelementptr {ptr, i64}, ptr %v0, i32 0, i32 1
// CHECK: load i64, ptr %[[P]], align 8
// CHECK: %[[E:.*]] = extractelement <4 x float> %v1, i64 2
// CHECK: insertelement <4 x float> %v1, float %[[E]], i64 2
// CHECK: shufflevector <4 x float> %v1, <4 x float> %v1, <2 x i32> <i32 1, i32 poison>
// CHECK: alloca [8 x i32], i64 2, align 64
llvm.func @shapes(%p: !llvm.ptr, %v: vector<4xf32>) {
  %c = llvm.mlir.constant(2) : i64
  %f = llvm.getelementptr %p[0, 1] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(!llvm.ptr, i64)>
  %n = llvm.load %f {alignment = 8 : i64} : !llvm.ptr -> i64
  %e = cuvil_llvm.extractelement %v[%c : i64] : vector<4xf32>
  %i = llvm.insertelement %e, %v[%c : i64] : vector<4xf32>
  %s = llvm.shufflevector %v, %v [1, -1] : vector<4xf32>
  %a = llvm.alloca %c x !llvm.array<8 x i32> {alignment = 64 : i64} : (i64) -> !llvm.ptr
  llvm.return
}
