// RUN: cuvil-opt %s -p lower-math > %t.once
// RUN: cuvil-opt %s -p lower-math,lower-math > %t.twice
// RUN: diff %t.once %t.twice
// RUN: filecheck %s < %t.twice
// An expansion holds nothing that the pass would expand.
// CHECK-LABEL: func.func @all
// CHECK-NOT: math.{{erf|tanh|sin|powf}}
func.func @all(%x: vector<4xf64>) -> vector<4xf64> {
  %0 = math.erf %x : vector<4xf64>
  %1 = math.tanh %0 : vector<4xf64>
  %2 = math.sin %1 : vector<4xf64>
  %3 = math.powf %2, %x : vector<4xf64>
  func.return %3 : vector<4xf64>
}
