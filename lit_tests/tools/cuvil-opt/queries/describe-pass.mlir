// RUN: cuvil-opt --describe-pass=canonicalize | filecheck %s
// RUN: not cuvil-opt --describe-pass=nope 2>&1 | filecheck %s --check-prefix=UNKNOWN
// CHECK: canonicalize
// CHECK: canonicalization patterns
// CHECK: options:
// CHECK: max-iterations: int = -1
// UNKNOWN: unknown pass 'nope'
