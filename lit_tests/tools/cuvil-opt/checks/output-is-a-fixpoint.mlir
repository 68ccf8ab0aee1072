// RUN: cuvil-opt %s -p cse > %t.once
// RUN: cuvil-opt %t.once > %t.twice
// RUN: diff %t.once %t.twice
// RUN: cuvil-opt %s -p cse --mlir-print-op-generic | cuvil-opt | diff %t.once -
func.func @f(%a: f32) -> f32 {
  %0 = arith.addf %a, %a : f32
  func.return %0 : f32
}
