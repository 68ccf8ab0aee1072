// RUN: cuvil-opt %s -p lower-math | filecheck %s
// The same expansion, with arith's and math's own ops in place of the lane-wise ones.
// CHECK-LABEL: func.func @exp(%x: f32)
// CHECK: arith.cmpf olt
// CHECK: math.fma
// CHECK: arith.bitcast %{{.*}} : f32 to i32
// CHECK-NOT: vector
func.func @exp(%x: f32) -> f32 {
  %0 = math.exp %x : f32
  func.return %0 : f32
}
