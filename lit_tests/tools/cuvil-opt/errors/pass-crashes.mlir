// RUN: not cuvil-opt %s --load-pass-plugin=%S/../Inputs/test_passes.py -p test-crash 2>&1 | filecheck %s
// RUN: env CUVIL_BACKTRACE=1 not cuvil-opt %s --load-pass-plugin=%S/../Inputs/test_passes.py -p test-crash 2>&1 | filecheck %s --check-prefix=TRACE
// A bug of a pass is told from a mistake of the user: no traceback unless asked for.
// CHECK:      error: internal error: pass 'test-crash' broke: KeyError: 'lost'
// CHECK-NEXT: note: for a reproducer run again with --mlir-pass-pipeline-crash-reproducer=FILE; for a traceback set CUVIL_BACKTRACE=1
// CHECK-NOT:  Traceback
// TRACE: Traceback (most recent call last):
// TRACE: raise KeyError("lost")
func.func @f(%a: f32) {
  %0 = arith.addf %a, %a : f32
  func.return
}
