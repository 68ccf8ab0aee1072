// RUN: not cuvil-opt %s -p 'canonicalize,func.func(csee),dce' 2>&1 | filecheck %s --strict-whitespace
// The caret is in the whole pipeline, and the nearest name is suggested.

// CHECK:pass-pipeline:1:24: error: unknown pass 'csee'; did you mean 'cse'?
// CHECK-NEXT:{{^}}canonicalize,func.func(csee),dce
// CHECK-NEXT:{{^}}                       ^~~~
