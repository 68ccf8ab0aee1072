// RUN: cuvil-opt %s -p lower-math | filecheck %s
// One test for the whole vector; the reduction modulo pi by many bits of 1 / pi runs only where a lane needs it.
// CHECK-LABEL: func.func @sin
// CHECK: %[[ANY:.*]] = vector.reduction <or>, %{{.*}} : vector<8xi1> into i1
// CHECK: scf.if %[[ANY]] -> (vector<8xf32>)
// CHECK: arith.extf %x : vector<8xf32> to vector<8xf64>
// CHECK: math.roundeven
// CHECK: scf.yield
func.func @sin(%x: vector<8xf32>) -> vector<8xf32> {
  %0 = math.sin %x : vector<8xf32>
  func.return %0 : vector<8xf32>
}
