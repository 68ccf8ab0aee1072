// RUN: cuvil-opt %s --validate -p cse,canonicalize | filecheck %s
// RUN: cuvil-opt %s --validate=7 -p 'func.func(cse)' | filecheck %s
// RUN: not cuvil-opt %s --validate=7 --load-pass-plugin=%S/../Inputs/test_passes.py -p cse,test-miscompile,dce 2>&1 | filecheck %s --check-prefix=WRONG
// Every pass is run against the reference interpreter: one that changes the result is named.

// WRONG: validate.mlir:[[# @LINE + 3]]:1: error: pass 'test-miscompile' changes what @f computes: result #0:
// WRONG-SAME: tolerance 0; max difference {{[0-9.]+}} at [
// CHECK: arith.addf
func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %a, %b : tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
