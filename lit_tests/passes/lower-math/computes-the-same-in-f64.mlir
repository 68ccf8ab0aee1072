// RUN: cuvil-run %s --pipeline lower-math --compare --tolerance 1e-14 --input 0.7 --input 1.3 --no-print | filecheck %s
// In f64 too, within its own rounding.
// CHECK: comparison 0 agrees
func.func @main(%x: f64, %y: f64) -> f64 {
  %0 = math.expm1 %x : f64
  %1 = math.log1p %y : f64
  %2 = math.sinh %0 : f64
  %3 = math.erf %1 : f64
  %4 = math.powf %2, %y : f64
  %5 = math.atan2 %3, %4 : f64
  %6 = math.cos %5 : f64
  %7 = math.asinh %6 : f64
  func.return %7 : f64
}
