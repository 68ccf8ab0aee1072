// RUN: not cuvil-opt %s -p 'canonicalize{max-iterations=many}' 2>&1 | filecheck %s
// RUN: not cuvil-opt %s -p 'canonicalize{max-iterations=1,2}' 2>&1 | filecheck %s --check-prefix=LIST
// RUN: not cuvil-opt %s -p 'canonicalize{max-iterations}' 2>&1 | filecheck %s --check-prefix=BARE
// CHECK: pass-pipeline:1:29: error: option 'max-iterations' of pass 'canonicalize' expects int, got 'many'
// LIST: :1:29: error: option 'max-iterations' of pass 'canonicalize' expects int, got '1,2'
// BARE: :1:14: error: option 'max-iterations' of pass 'canonicalize' expects int, got no value
