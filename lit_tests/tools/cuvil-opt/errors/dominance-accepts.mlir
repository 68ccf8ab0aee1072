// RUN: cuvil-opt %s | filecheck %s
// The accepted twins of what the dominance check refuses: loops, unreachable blocks, values of enclosing regions.

// CHECK-LABEL: @loop
func.func @loop(%a: f32, %c: i1) -> f32 {
  %0 = arith.addf %a, %a : f32
  cf.br ^head(%0 : f32)
^head(%b: f32):
  %1 = arith.addf %b, %0 : f32
  cf.cond_br %c, ^head(%1 : f32), ^exit
^exit:
  func.return %1 : f32
}

// CHECK-LABEL: @enclosing
func.func @enclosing(%a: f32, %c: i1) -> f32 {
  %0 = arith.addf %a, %a : f32
  %1 = scf.if %c -> (f32) {
    %2 = arith.mulf %0, %a : f32
    scf.yield %2 : f32
  } else {
    scf.yield %0 : f32
  }
  func.return %1 : f32
}

// CHECK-LABEL: @unreachable
func.func @unreachable(%a: f32) -> f32 {
  func.return %a : f32
^nowhere:
  %0 = arith.addf %1, %a : f32
  %1 = arith.addf %a, %a : f32
  cf.br ^nowhere
}
