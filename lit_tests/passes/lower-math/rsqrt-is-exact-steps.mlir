// RUN: cuvil-opt %s -p lower-math | filecheck %s
// A division by a square root: no estimate instruction, whose error differs between machines.
// CHECK: %[[ROOT:.*]] = math.sqrt %x
// CHECK: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK: arith.divf %[[ONE]], %[[ROOT]]
func.func @rsqrt(%x: f32) -> f32 {
  %0 = math.rsqrt %x : f32
  func.return %0 : f32
}
