// RUN: cuvil-opt %s -p lower-math > %t.direct
// RUN: cuvil-opt %t.direct > %t.parsed
// RUN: diff %t.direct %t.parsed
// RUN: filecheck %s < %t.parsed
// Infinities and large integers are scalars, broadcast: inside dense<...> their bits would be read as a number.
// CHECK-LABEL: func.func @log
// CHECK: %[[INFINITY:.*]] = arith.constant 0x7f800000 : f32
// CHECK: vector.broadcast %[[INFINITY]] : f32 to vector<4xf32>
// CHECK-NOT: dense<0x
func.func @log(%x: vector<4xf32>) -> vector<4xf32> {
  %0 = math.log %x : vector<4xf32>
  %1 = math.exp %0 : vector<4xf32>
  func.return %1 : vector<4xf32>
}
