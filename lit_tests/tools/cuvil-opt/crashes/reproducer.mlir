// RUN: rm -f %t.mlir
// RUN: not cuvil-opt %s --load-pass-plugin=%S/../Inputs/test_passes.py -p 'cse,func.func(test-crash)' --mlir-pass-pipeline-crash-reproducer=%t.mlir 2>&1 | filecheck %s --check-prefix=NOTE
// RUN: filecheck %s --input-file=%t.mlir
// RUN: not cuvil-opt %t.mlir --load-pass-plugin=%S/../Inputs/test_passes.py --run-reproducer 2>&1 | filecheck %s --check-prefix=AGAIN
// RUN: cuvil-opt %t.mlir | filecheck %s --check-prefix=MODULE
// The file holds the input and the pipeline, runs again, and is a module like any other.
// NOTE: error: internal error: pass 'test-crash' broke: KeyError: 'lost'
// NOTE: note: a reproducer was written to '{{.*}}'; run it with: cuvil-opt --run-reproducer
// CHECK-COUNT-2: arith.addf
// CHECK: {-#
// CHECK: mlir_reproducer: {
// CHECK: pipeline: "builtin.module(cse,func.func(test-crash))",
// CHECK: verify_each: true
// AGAIN: pass 'test-crash' broke: KeyError: 'lost'
// MODULE: func.func @f
// MODULE-NOT: mlir_reproducer
func.func @f(%a: f32) -> (f32, f32) {
  %0 = arith.addf %a, %a : f32
  %1 = arith.addf %a, %a : f32
  func.return %0, %1 : f32, f32
}
