// RUN: not cuvil-opt %s --load-pass-plugin=%S/../Inputs/test_passes.py -p 'cse,func.func(test-crash)' --mlir-pass-pipeline-crash-reproducer=%t.mlir --mlir-pass-pipeline-local-reproducer
// RUN: filecheck %s --input-file=%t.mlir
// Only the pass that failed, on the IR that it got.
// CHECK-COUNT-1: arith.addf
// CHECK: pipeline: "builtin.module(func.func(test-crash))"
func.func @f(%a: f32) -> (f32, f32) {
  %0 = arith.addf %a, %a : f32
  %1 = arith.addf %a, %a : f32
  func.return %0, %1 : f32, f32
}
