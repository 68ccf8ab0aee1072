// RUN: cuvil-opt %s -p lower-math | filecheck %s
// Activation functions are straight-line code, with one division at most.
// CHECK-LABEL: func.func @tanh
// CHECK-NOT: scf.if
// CHECK: arith.divf
// CHECK-NEXT: math.copysign
// CHECK-LABEL: func.func @erf
// CHECK-NOT: scf.if
// CHECK-NOT: arith.divf
// CHECK: func.return
func.func @tanh(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.tanh %x : vector<16xf32>
  func.return %0 : vector<16xf32>
}
func.func @erf(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.erf %x : vector<16xf32>
  func.return %0 : vector<16xf32>
}
