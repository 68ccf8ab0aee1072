// RUN: not cuvil-opt %s --canonicalise 2>&1 | filecheck %s
// RUN: not cuvil-opt %s --verify-diagnostic 2>&1 | filecheck %s --check-prefix=OPTION
// RUN: not cuvil-opt %s --qqq 2>&1 | filecheck %s --check-prefix=NOTHING
// CHECK: cuvil-opt: error: unknown option '--canonicalise'; did you mean '--canonicalize'?
// OPTION: unknown option '--verify-diagnostic'; did you mean '--verify-diagnostics'?
// NOTHING: cuvil-opt: error: unknown option '--qqq'{{$}}
