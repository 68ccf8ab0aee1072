// RUN: cuvil-opt %s -p lower-math | filecheck %s
// A constant exponent without a short product, and one known only at run time.
// CHECK-LABEL: func.func @constant
// CHECK: arith.extf
// CHECK: arith.truncf
// CHECK-LABEL: func.func @variable
// CHECK: arith.extf
// CHECK: arith.truncf
func.func @constant(%x: f32) -> f32 {
  %y = arith.constant 0.3 : f32
  %0 = math.powf %x, %y : f32
  func.return %0 : f32
}
func.func @variable(%x: f32, %y: f32) -> f32 {
  %0 = math.powf %x, %y : f32
  func.return %0 : f32
}
