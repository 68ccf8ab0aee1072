// RUN: cuvil-opt %s -p 'cse,func.func(cse,dce),cse' --mlir-timing 2>&1 >/dev/null | filecheck %s
// RUN: cuvil-opt %s -p 'cse,func.func(cse,dce),cse' --time-passes --mlir-timing-display=list 2>&1 >/dev/null | filecheck %s --check-prefix=LIST
// The tree has one line a step; the list adds up what has the same name.
// CHECK: ... Execution time report ...
// CHECK: Total Execution Time: {{.*}} seconds
// CHECK: ----Wall Time----  ----Name----
// CHECK: {{[0-9.]+ \([ 0-9.]+%\)}}  Parser
// CHECK: {{^.*\)}}  cse
// CHECK: {{^.*\)}}  'func.func' Pipeline
// CHECK: {{^.*\)}}    cse
// CHECK: {{^.*\)}}    dce
// CHECK: {{^.*\)}}  cse
// CHECK: {{^.*\)}}  Output
// CHECK: {{^.*\)}}  Rest
// CHECK: {{^.*\(100.0%\)}}  Total
// LIST-COUNT-1: cse
// LIST-NOT: Pipeline
func.func private @f()
