// RUN: not cuvil-opt %s -p 'decompose{keep=soft}' 2>&1 | filecheck %s
// A name that is no composite's is an error, not an option without effect.

// CHECK: pass-pipeline:1:1: error: pass 'decompose': keep: there is no composite 'soft'; it is one of softmax, log_softmax,
