// RUN: cuvil-run %s --pipeline lower-math --compare --tolerance 1e-6 --input 0.7 --input 1.3 --no-print | filecheck %s
// The reference interpreter agrees before and after.
// CHECK: comparison 0 agrees
func.func @main(%x: f32, %y: f32) -> f32 {
  %0 = math.exp %x : f32
  %1 = math.log %y : f32
  %2 = math.tanh %0 : f32
  %3 = math.erf %1 : f32
  %4 = math.powf %2, %y : f32
  %5 = math.atan2 %3, %4 : f32
  %6 = math.sin %5 : f32
  %7 = math.cbrt %6 : f32
  func.return %7 : f32
}
