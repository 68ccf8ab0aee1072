// RUN: cuvil-run %s --pipeline lower-math --input 1.0e30 --input 1.0e30 | filecheck %s
// The argument modulo pi needs a hundred bits of 1 / pi.
// CHECK: result 0 : f32 = -0.791163
// CHECK: result 1 : f32 = -0.611605
func.func @main(%x: f32, %y: f32) -> (f32, f32) {
  %0 = math.sin %x : f32
  %1 = math.cos %y : f32
  func.return %0, %1 : f32, f32
}
