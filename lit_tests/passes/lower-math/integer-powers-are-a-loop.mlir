// RUN: cuvil-opt %s -p lower-math | filecheck %s
// One step for each bit of the exponent.
// CHECK: %[[BITS:.*]] = arith.constant 32 : index
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[BITS]]
// CHECK: arith.muli
// CHECK: arith.shrui
func.func @power(%x: i32, %n: i32) -> i32 {
  %0 = math.ipowi %x, %n : i32
  func.return %0 : i32
}
