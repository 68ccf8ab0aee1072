// RUN: cuvil-opt %s -p lower-loops-to-llvm | cuvil-opt | filecheck %s
// A lane is taken out and put in by element operations; a broadcast is one of them and a shuffle.
// CHECK-LABEL: llvm.func @lanes
// CHECK: %[[ONE:.*]] = llvm.insertelement
// CHECK: %[[ALL:.*]] = llvm.shufflevector %[[ONE]], %{{.*}} [0, 0, 0, 0] : vector<4xf32>
// CHECK: %[[LANE:.*]] = cuvil_llvm.extractelement %[[ALL]][%{{.*}} : i64] : vector<4xf32>
// CHECK: llvm.insertelement %[[LANE]], %{{.*}}[%{{.*}} : i64] : vector<4xf32>
func.func @lanes(%s: f32, %v: vector<4xf32>) -> vector<4xf32> {
  %b = vector.broadcast %s : f32 to vector<4xf32>
  %e = vector.extract %b[2] : f32 from vector<4xf32>
  %r = vector.insert %e, %v[1] : f32 into vector<4xf32>
  func.return %r : vector<4xf32>
}
