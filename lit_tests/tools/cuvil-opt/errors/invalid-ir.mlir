// RUN: cuvil-opt %s --split-input-file --verify-diagnostics

func.func @f(%a: f32) -> i32 {
  // expected-error @+1 {{func.return: expected arguments to have the same types as the function output types}}
  func.return %a : f32
}

// -----

func.func @f(%a: f32) -> f32 {
  // expected-error @+1 {{arith.addf: operand #0 does not dominate this use}}
  %0 = arith.addf %1, %a : f32
  %1 = arith.mulf %a, %a : f32
  func.return %0 : f32
}

// -----

func.func @f(%a: f32, %c: i1) {
  cf.cond_br %c, ^first, ^second
^first:
  // expected-error @+1 {{arith.addf: operand #0 does not dominate this use}}
  %0 = arith.addf %1, %a : f32
  func.return
^second:
  %1 = arith.addf %a, %a : f32
  cf.br ^first
}

// -----

func.func @f(%a: f32, %c: i1) {
  scf.if %c {
    %0 = arith.addf %a, %a : f32
    scf.yield
  }
  // expected-error @+1 {{value %0 is used but not defined}}
  %1 = arith.addf %0, %a : f32
  func.return
}

// -----

func.func @f(%a: f32) {
  // expected-error @+1 {{terminates block in single-block region but is not a terminator}}
  %0 = arith.addf %a, %a : f32
}

// -----

func.func @f(%a: f32) {
  // expected-error @+1 {{arith.addf: expected 2 operands, but got 1}}
  %0 = "arith.addf"(%a) : (f32) -> f32
  func.return
}
