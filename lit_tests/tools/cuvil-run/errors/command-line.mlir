// RUN: not cuvil-run %s 2>&1 | filecheck %s --check-prefix=FEW
// RUN: not cuvil-run %s --input 1 --input 2 2>&1 | filecheck %s --check-prefix=MANY
// RUN: not cuvil-run %s --input dense 2>&1 | filecheck %s --check-prefix=MALFORMED
// RUN: not cuvil-run %s --input 'dense<[1.0, 2.0]> : tensor<2xf32>' 2>&1 | filecheck %s --check-prefix=SHAPE
// RUN: not cuvil-run %s --function other 2>&1 | filecheck %s --check-prefix=FUNCTION
// RUN: not cuvil-run %s --random --pipeline decompos 2>&1 | filecheck %s --check-prefix=PASS
// RUN: not cuvil-run %s --unknown 2>&1 | filecheck %s --check-prefix=OPTION
// RUN: not cuvil-run %s.none 2>&1 | filecheck %s --check-prefix=FILE
// RUN: not cuvil-run %s --random --threads 0 2>&1 | filecheck %s --check-prefix=THREADS
// RUN: not cuvil-run %s --random --time 0 2>&1 | filecheck %s --check-prefix=TIME
// A mistake on the command line is a message, never a traceback.

func.func @main(%x: tensor<f32>) -> tensor<f32> {
  func.return %x : tensor<f32>
}
// FEW: error: function @main takes 1 arguments, 0 are given; --random makes up the others
// MANY: error: function @main takes 1 arguments, more are given
// MALFORMED: error: input 'dense' is malformed:
// SHAPE: error: argument 0 of @main has shape 2, expected tensor<f32>
// FUNCTION: error: there is no function 'other' to run; the module defines main
// PASS: error: unknown pass 'decompos'; did you mean 'decompose'?
// OPTION: error: unrecognized arguments: --unknown
// FILE: error: cannot open '{{.*}}.none'
// THREADS: error: argument --threads: expected a number from 1 on, got 0
// TIME: error: argument --time: expected a number from 1 on, got 0
