// RUN: cuvil-run %s --pipeline lower-math --input 0.0 | filecheck %s
// Poles, domain errors and the rules of C's pow survive.
// CHECK: result 0 : f32 = -inf
// CHECK: result 1 : f32 = nan
// CHECK: result 2 : f32 = 1
// CHECK: result 3 : f32 = inf
// CHECK: result 4 : f32 = 3.14159
func.func @main(%zero: f32) -> (f32, f32, f32, f32, f32) {
  %minus_one = arith.constant -1.0 : f32
  %nan = arith.constant 0x7fc00000 : f32
  %large = arith.constant 100.0 : f32
  %0 = math.log %zero : f32
  %1 = math.log %minus_one : f32
  %2 = math.powf %nan, %zero : f32
  %3 = math.exp %large : f32
  %4 = math.atan2 %zero, %minus_one : f32
  func.return %0, %1, %2, %3, %4 : f32, f32, f32, f32, f32
}
