// RUN: cuvil-opt %s --split-input-file --verify-diagnostics

func.func @f(%a: f32) {
  // expected-error @+1 {{value %b is used but not defined}}
  %0 = arith.addf %a, %b : f32
  func.return
}

// -----

func.func @f(%a: f32) {
  // expected-error @+1 {{SSA value %a is already defined}}
  %a = arith.constant 1.0 : f32
  func.return
}

// -----

func.func @f(%a: f32) {
  // expected-error @+1 {{operand is used with type i32, but has been previously used or defined with type f32}}
  %0 = arith.addi %a, %a : i32
  func.return
}

// -----

func.func @f(%a: f32) {
  // expected-error @+1 {{operation 'arith.adf' is not registered; did you mean 'arith.addf'?}}
  %0 = arith.adf %a, %a : f32
  func.return
}

// -----

// expected-error @+1 {{operation 'nothing.at_all' is not registered, nor is its dialect}}
%0 = "nothing.at_all"() : () -> f32

// -----

func.func @f(%a: f32) {
  // expected-error @+1 {{expected ','}}
  %0 = arith.addf %a %a : f32
  func.return
}

// -----

// expected-error @+2 {{shape mismatch in dense literal. Expected [2, 2] shape from the type, but got [3] shape.}}
%0 = arith.constant dense<[1, 2, 3]> : tensor<2x2xi32>
