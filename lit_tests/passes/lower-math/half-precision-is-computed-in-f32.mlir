// RUN: cuvil-opt %s -p lower-math | filecheck %s
// One extension, one rounding.
// CHECK-LABEL: func.func @f16
// CHECK: arith.extf %x : vector<8xf16> to vector<8xf32>
// CHECK: arith.truncf %{{.*}} : vector<8xf32> to vector<8xf16>
// CHECK-LABEL: func.func @bf16
// CHECK: arith.extf %x : bf16 to f32
// CHECK: arith.truncf %{{.*}} : f32 to bf16
func.func @f16(%x: vector<8xf16>) -> vector<8xf16> {
  %0 = math.tanh %x : vector<8xf16>
  func.return %0 : vector<8xf16>
}
func.func @bf16(%x: bf16) -> bf16 {
  %0 = math.log %x : bf16
  func.return %0 : bf16
}
