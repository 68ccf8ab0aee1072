// RUN: cuvil-opt --help | filecheck %s
// RUN: cuvil-opt -h | filecheck %s
// CHECK: usage: cuvil-opt [options] [passes] [file]
// CHECK: input:
// CHECK: --split-input-file[=MARKER]
// CHECK: pipeline:
// CHECK: IR dumps (to stderr):
// CHECK: checks:
// CHECK: Cuvil's passes
// CHECK:   lower-math {{.+}}
// CHECK: xDSL's passes:
// CHECK: canonicalize
