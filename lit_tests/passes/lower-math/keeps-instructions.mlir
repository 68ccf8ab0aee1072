// RUN: cuvil-opt %s -p lower-math | filecheck %s
// Functions that every target has as instructions are no business of this pass.
// CHECK: math.sqrt
// CHECK-NEXT: math.absf
// CHECK-NEXT: math.floor
// CHECK-NEXT: math.ceil
// CHECK-NEXT: math.trunc
// CHECK-NEXT: math.round
// CHECK-NEXT: math.roundeven
// CHECK-NEXT: math.copysign
// CHECK-NEXT: math.fma
// CHECK-NEXT: func.return
func.func @keep(%x: f32) -> f32 {
  %0 = math.sqrt %x : f32
  %1 = math.absf %0 : f32
  %2 = math.floor %1 : f32
  %3 = math.ceil %2 : f32
  %4 = math.trunc %3 : f32
  %5 = math.round %4 : f32
  %6 = math.roundeven %5 : f32
  %7 = math.copysign %6, %x : f32
  %8 = math.fma %7, %6, %x : f32
  func.return %8 : f32
}
