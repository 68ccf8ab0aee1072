// RUN: not cuvil-opt %s -p 'cse,' 2>&1 | filecheck %s
// RUN: not cuvil-opt %s -p 'cse dce' 2>&1 | filecheck %s --check-prefix=SPACE
// CHECK: pass-pipeline:1:5: error: expected a pass name
// SPACE: pass-pipeline:1:5: error: expected ',' before 'd'
