// RUN: cuvil-opt %s --load-pass-plugin=%S/../Inputs/test_passes.py -p test-report --remarks-filter='test-report' --verify-diagnostics
// RUN: cuvil-opt %s --load-pass-plugin=%S/../Inputs/test_passes.py -p test-report --remarks-filter='test-report' -verify-diagnostics
// Every designator and severity.

// expected-remark @+1 {{[passed] test-report: looked at a function}}
func.func @f(%a: f32) {
  // expected-remark @below {{left an addition (width=32)}}
  %0 = arith.addf %a, %a : f32
  %1 = arith.addf %a, %0 : f32 // expected-remark {{left an addition}}
  %2 = arith.addf %a, %1 : f32
  // expected-remark-re @-1 {{left an \w+ \(width=\d+\)}}
  %3 = arith.addf %a, %2 : f32

  // expected-remark @-2 {{left an addition}}
  func.return
}

func.func @g() { // expected-warning {{more than one function}} expected-remark {{looked at a function}}
  func.return
}
