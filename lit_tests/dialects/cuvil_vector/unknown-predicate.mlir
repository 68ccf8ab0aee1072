// RUN: not cuvil-opt %s 2>&1 | filecheck %s
// CHECK: unknown predicate 'less': expected one of eq, ne, slt
func.func @less(%i: vector<4xi32>) {
  %0 = cuvil_vector.cmpi less, %i, %i : vector<4xi32>
  func.return
}
