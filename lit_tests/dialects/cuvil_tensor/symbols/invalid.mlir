// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// Ranges that no size is in.

// expected-error @+1 {{cuvil_tensor.range: a dim is at least 0, got -1}}
func.func @f() attributes {cuvil_tensor.symbols = {s0 = #cuvil_tensor.range<-1, 8>}} {
  func.return
}

// -----

// expected-error @+1 {{cuvil_tensor.range: 9 is greater than 8}}
func.func @f() attributes {cuvil_tensor.symbols = {s0 = #cuvil_tensor.range<9, 8>}} {
  func.return
}

// -----

// expected-error @+1 {{cuvil_tensor.range: multiple_of is at least 1, got 0}}
func.func @f() attributes {cuvil_tensor.symbols = {s0 = #cuvil_tensor.range<1, 8, multiple_of = 0>}} {
  func.return
}

// -----

// expected-error @+1 {{cuvil_tensor.range: no multiple of 8 is in 9..15}}
func.func @f() attributes {cuvil_tensor.symbols = {s0 = #cuvil_tensor.range<9, 15, multiple_of = 8>}} {
  func.return
}
