// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// What the verifier and the parser refuse.

func.func @f() {
  // expected-error @+1 {{cuvil_tensor.size: write '1 + s0' in its normal form 's0 + 1'}}
  %0 = cuvil_tensor.size "1 + s0" : index
  func.return
}

// -----

func.func @f() {
  // expected-error @+1 {{cuvil_tensor.size: expected a number, a symbol or '(' in dim expression 's0 *', got 'the end'}}
  %0 = cuvil_tensor.size "s0 *" : index
  func.return
}

// -----

func.func @f() {
  // expected-error @+1 {{cuvil_tensor.size: the result is an index or a 0-d tensor, got tensor<1xf32>}}
  %0 = cuvil_tensor.size "s0" : tensor<1xf32>
  func.return
}

// -----

func.func @f() {
  // expected-error @+1 {{cuvil_tensor.size: a size is a number, got element type i1}}
  %0 = cuvil_tensor.size "s0" : tensor<i1>
  func.return
}

// -----

func.func @f() attributes {cuvil_tensor.symbols = {s0 = #cuvil_tensor.range<1, 8>, s1 = #cuvil_tensor.range<0, ?>}} {
  // expected-error @+1 {{cuvil_tensor.size: the function has no symbol s2; cuvil_tensor.symbols lists s0, s1}}
  %0 = cuvil_tensor.size "s0 + s2" : index
  func.return
}
