// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// Every unknown dim has a name, in normal form.

func.func @f(%x: tensor<?xf32>) {
  // expected-error @+1 {{cuvil_tensor.unary: tensor<?xf32> has an unknown dim without a name: give its dims by an encoding #cuvil_tensor.dims<...>}}
  %0 = cuvil_tensor.unary exp %x : tensor<?xf32>
  func.return
}

// -----

func.func @f(%x: tensor<?x4xf32, #cuvil_tensor.dims<"s0", 5>>) {
  // expected-error @+1 {{cuvil_tensor.unary: the encoding of tensor<?x4xf32, #cuvil_tensor.dims<"s0", 5>> does not describe its dims}}
  %0 = cuvil_tensor.unary exp %x : tensor<?x4xf32, #cuvil_tensor.dims<"s0", 5>>
  func.return
}

// -----

// expected-error @+1 {{cuvil_tensor.dims: write '1 + s0' in its normal form 's0 + 1'}}
func.func @f(%x: tensor<?xf32, #cuvil_tensor.dims<"1 + s0">>) {
  func.return
}

// -----

// expected-error @+1 {{cuvil_tensor.dims: expected a number, a symbol or '(' in dim expression 's0 +', got 'the end'}}
func.func @f(%x: tensor<?xf32, #cuvil_tensor.dims<"s0 +">>) {
  func.return
}

// -----

// expected-error @+1 {{cuvil_tensor.dims: 'floordiv' needs a positive number on its right in dim expression 's0 floordiv 0'}}
func.func @f(%x: tensor<?xf32, #cuvil_tensor.dims<"s0 floordiv 0">>) {
  func.return
}
