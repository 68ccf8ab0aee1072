// RUN: cuvil-opt %s --dump-pass-pipeline -p 'cse,func.func(canonicalize{max-iterations=5})' 2>&1 >%t.out | filecheck %s
// RUN: filecheck %s --check-prefix=OUT --input-file=%t.out
// On stderr, and in a form that parses back.

// CHECK: {{^}}builtin.module(cse,func.func(canonicalize{max-iterations=5})){{$}}
// OUT-NOT: cse
// OUT: builtin.module
