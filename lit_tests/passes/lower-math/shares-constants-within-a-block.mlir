// RUN: cuvil-opt %s -p lower-math | filecheck %s
// The second expansion uses the first one's constants; a nested block makes its own.
// CHECK: %[[LOG2E:.*]] = arith.constant 1.44269502 : f32
// CHECK: math.fma %{{.*}}, %[[LOG2E]]
// CHECK-NOT: arith.constant 1.44269502
// CHECK: math.fma %{{.*}}, %[[LOG2E]]
// CHECK: scf.for
// CHECK: arith.constant 1.44269502 : f32
func.func @twice(%x: f32, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = math.exp %x : f32
  %1 = math.exp %0 : f32
  %2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %1) -> (f32) {
    %3 = math.exp %acc : f32
    scf.yield %3 : f32
  }
  func.return %2 : f32
}
