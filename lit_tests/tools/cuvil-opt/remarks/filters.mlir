// RUN: cuvil-opt %s --load-pass-plugin=%S/../Inputs/test_passes.py -p test-report --remarks-filter='passed|analysis' 2>&1 >/dev/null | filecheck %s --check-prefix=KINDS
// RUN: cuvil-opt %s --load-pass-plugin=%S/../Inputs/test_passes.py -p test-report --remarks-filter=test-other 2>&1 >/dev/null | filecheck %s --check-prefix=PASS
// RUN: cuvil-opt %s --load-pass-plugin=%S/../Inputs/test_passes.py -p test-report --remarks-filter-passed=test-report 2>&1 >/dev/null | filecheck %s --check-prefix=BOTH
// RUN: cuvil-opt %s --load-pass-plugin=%S/../Inputs/test_passes.py -p test-report --remarks-filter='analysis=.*' 2>&1 >/dev/null | filecheck %s --check-prefix=PASS
// By kind, by pass, by both.
// KINDS: [passed] test-report
// KINDS: [analysis] test-other
// KINDS-NOT: missed
// PASS-NOT: test-report
// PASS: [analysis] test-other: found a function
// BOTH: [passed] test-report: looked at a function
// BOTH-NOT: analysis
func.func @f() {
  func.return
}
