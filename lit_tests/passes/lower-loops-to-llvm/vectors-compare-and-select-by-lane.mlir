// RUN: cuvil-opt %s -p lower-loops-to-llvm | cuvil-opt | filecheck %s
// Upstream's llvm.fcmp and llvm.select take scalars: vectors use cuvil_llvm's.
// CHECK-LABEL: llvm.func @relu
// CHECK: %[[M:.*]] = cuvil_llvm.fcmp "olt" %[[V:.*]], %[[ZERO:.*]] : vector<8xf32>
// CHECK: cuvil_llvm.select %[[M]], %[[ZERO]], %[[V]] : vector<8xi1>, vector<8xf32>
func.func @relu(%v: vector<8xf32>) -> vector<8xf32> {
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %m = cuvil_vector.cmpf olt, %v, %zero : vector<8xf32>
  %0 = cuvil_vector.select %m, %zero, %v : vector<8xi1>, vector<8xf32>
  func.return %0 : vector<8xf32>
}
// CHECK-LABEL: llvm.func @scalar
// CHECK: llvm.fcmp "olt"
// CHECK: llvm.select
func.func @scalar(%v: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %m = arith.cmpf olt, %v, %zero : f32
  %0 = arith.select %m, %zero, %v : f32
  func.return %0 : f32
}
