// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// What the verifier and the parser refuse.

// A value without elements.
func.func @f() {
  // expected-error @+1 {{cuvil_tensor.constant: expected a dense<...> value}}
  %0 = cuvil_tensor.constant 1.0 : f32
  func.return
}

// -----

func.func @f() {
  // expected-error @+1 {{cuvil_tensor.constant: result has type tensor<3xf32>, expected tensor<2xf32> by the shape rule}}
  %0 = "cuvil_tensor.constant"() <{value = dense<1.0> : tensor<2xf32>}> : () -> tensor<3xf32>
  func.return
}

// -----

func.func @f() {
  // expected-error @+1 {{cuvil_tensor.constant: unknown attribute 'splat'; it takes value}}
  %0 = "cuvil_tensor.constant"() <{value = dense<1.0> : tensor<2xf32>}> {splat} : () -> tensor<2xf32>
  func.return
}
