// RUN: cuvil-opt %s --load-pass-plugin=%S/../Inputs/test_passes.py -p test-fail --verify-diagnostics
// RUN: not cuvil-opt %s --load-pass-plugin=%S/../Inputs/test_passes.py -p test-fail-in-pattern 2>&1 | filecheck %s
// A pass that refuses the module is named, and so is the operation, even if the exception from a pattern has no place.

func.func @f(%a: f32) {
  // CHECK: pass-fails.mlir:[[# @LINE + 2]]:8: error: pass 'test-fail-in-pattern' failed: arith.addf: no additions here
  // expected-error @+1 {{pass 'test-fail' failed: arith.addf: additions are not welcome}}
  %0 = arith.addf %a, %a : f32
  func.return
}
