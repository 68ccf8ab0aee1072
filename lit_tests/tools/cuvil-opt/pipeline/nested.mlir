// RUN: cuvil-opt %s --pass-pipeline='builtin.module(func.func(cse,canonicalize{max-iterations=5}))' | filecheck %s
// RUN: cuvil-opt %s -p 'func.func(cse,canonicalize)' | filecheck %s
// RUN: cuvil-opt %s --pass-pipeline='builtin.module( func.func( cse ), canonicalize )' | filecheck %s
// MLIR's form; the anchor's passes run on each function.

// CHECK-LABEL: @f
// CHECK-COUNT-1: arith.addf
// CHECK-NOT: arith.addf
func.func @f(%a: f32) -> f32 {
  %0 = arith.addf %a, %a : f32
  %1 = arith.addf %a, %a : f32
  %2 = arith.mulf %0, %1 : f32
  func.return %2 : f32
}

// CHECK-LABEL: @g
// CHECK-COUNT-1: arith.addf
// CHECK-NOT: arith.addf
func.func @g(%a: f32) -> f32 {
  %0 = arith.addf %a, %a : f32
  %1 = arith.addf %a, %a : f32
  %2 = arith.mulf %0, %1 : f32
  func.return %2 : f32
}
