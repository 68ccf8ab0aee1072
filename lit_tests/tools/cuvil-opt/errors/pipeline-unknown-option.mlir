// RUN: not cuvil-opt %s --canonicalize=max-iteration=3 2>&1 | filecheck %s
// RUN: not cuvil-opt %s -p 'cse{deep}' 2>&1 | filecheck %s --check-prefix=NONE
// CHECK: pass-pipeline:1:14: error: pass 'canonicalize' has no option 'max-iteration'; did you mean 'max-iterations'?
// NONE: pass-pipeline:1:5: error: pass 'cse' has no options, got 'deep'
