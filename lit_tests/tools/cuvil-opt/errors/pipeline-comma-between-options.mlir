// RUN: not cuvil-opt %s -p 'canonicalize{max-iterations=1,x=2}' 2>&1 | filecheck %s
// CHECK: pass-pipeline:1:32: error: options are separated by spaces; a comma continues the value
