// RUN: not cuvil-opt %s 2>&1 | filecheck %s
// Upstream's verifier raises a bare Exception here: still an error of the input, at its place.
func.func @f(%m: memref<4x4xf32>, %i: index) -> f32 {
  // CHECK: :[[# @LINE + 1]]:8: error: memref.load: expected an index for each dimension
  %0 = memref.load %m[%i] : memref<4x4xf32>
  func.return %0 : f32
}
