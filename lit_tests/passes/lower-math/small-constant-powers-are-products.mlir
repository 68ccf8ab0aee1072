// RUN: cuvil-opt %s -p lower-math | filecheck %s
// x^2, x^3 and the like cost a few products, not a logarithm and an exponential.
// CHECK-LABEL: func.func @square
// CHECK: arith.mulf %x, %x
// CHECK-NEXT: func.return
// CHECK-LABEL: func.func @cube
// CHECK: %[[SQUARE:.*]] = arith.mulf %x, %x
// CHECK-NEXT: arith.mulf %x, %[[SQUARE]]
// CHECK-NEXT: func.return
// CHECK-LABEL: func.func @reciprocal
// CHECK: arith.divf
// CHECK-NEXT: func.return
// CHECK-LABEL: func.func @integer
// CHECK: arith.muli %n, %n
// CHECK-NEXT: func.return
func.func @square(%x: vector<8xf32>) -> vector<8xf32> {
  %y = arith.constant dense<2.0> : vector<8xf32>
  %0 = math.powf %x, %y : vector<8xf32>
  func.return %0 : vector<8xf32>
}
func.func @cube(%x: f64) -> f64 {
  %y = arith.constant 3 : i32
  %0 = math.fpowi %x, %y : f64, i32
  func.return %0 : f64
}
func.func @reciprocal(%x: f32) -> f32 {
  %y = arith.constant -1.0 : f32
  %0 = math.powf %x, %y : f32
  func.return %0 : f32
}
func.func @integer(%n: i64) -> i64 {
  %y = arith.constant 2 : i64
  %0 = math.ipowi %n, %y : i64
  func.return %0 : i64
}
