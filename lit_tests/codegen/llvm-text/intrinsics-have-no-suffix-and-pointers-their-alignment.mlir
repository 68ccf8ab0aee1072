// RUN: cuvil-opt %s -t llvm | filecheck %s
// CHECK: %[[V:.*]] = call <8 x float> @llvm.masked.load(ptr align 4 %v0, <8 x i1> %v1, <8 x float> %v2)
// CHECK: call <8 x float> @llvm.fma(<8 x float> %[[V]], <8 x float> %[[V]], <8 x float> %[[V]])
// CHECK: call reassoc float @llvm.vector.reduce.fadd(float %v3, <8 x float> %{{.*}})
// CHECK-NOT: declare
llvm.func @intrinsics(%p: !llvm.ptr, %m: vector<8xi1>, %z: vector<8xf32>, %s: f32) -> f32 {
  %v = llvm.call_intrinsic "llvm.masked.load"(%p, %m, %z) {alignment = 4 : i64} : (!llvm.ptr, vector<8xi1>, vector<8xf32>) -> vector<8xf32>
  %f = "llvm.intr.fma"(%v, %v, %v) <{fastmathFlags = #llvm.fastmath<none>}> : (vector<8xf32>, vector<8xf32>, vector<8xf32>) -> vector<8xf32>
  %r = "llvm.intr.vector.reduce.fadd"(%s, %f) <{fastmathFlags = #llvm.fastmath<reassoc>}> : (f32, vector<8xf32>) -> f32
  llvm.return %r : f32
}
