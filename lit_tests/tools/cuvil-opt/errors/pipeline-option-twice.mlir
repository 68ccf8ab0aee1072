// RUN: not cuvil-opt %s -p 'canonicalize{max-iterations=1 max-iterations=2}' 2>&1 | filecheck %s
// CHECK: pass-pipeline:1:31: error: option 'max-iterations' of pass 'canonicalize' is given twice
