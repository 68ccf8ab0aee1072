// RUN: cuvil-opt %s -p lower-math | filecheck %s
// absi, ctpop, ctlz and cttz are instructions everywhere.
// CHECK: math.absi
// CHECK-NEXT: math.ctlz
// CHECK-NEXT: math.cttz
// CHECK-NEXT: math.ctpop
func.func @keep(%x: vector<4xi32>) -> vector<4xi32> {
  %0 = math.absi %x : vector<4xi32>
  %1 = math.ctlz %0 : vector<4xi32>
  %2 = math.cttz %1 : vector<4xi32>
  %3 = math.ctpop %2 : vector<4xi32>
  func.return %3 : vector<4xi32>
}
