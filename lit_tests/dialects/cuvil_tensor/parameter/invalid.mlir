// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// A parameter names a global of its own type.

func.func @f() -> tensor<2xf32> {
  // expected-error @+1 {{cuvil_tensor.parameter: @weight is not a cuvil_tensor.global of the module}}
  %0 = cuvil_tensor.parameter @weight : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

cuvil_tensor.global @weight : tensor<3xf32>
func.func @f() -> tensor<2xf32> {
  // expected-error @+1 {{cuvil_tensor.parameter: @weight is tensor<3xf32>, used as tensor<2xf32>}}
  %0 = cuvil_tensor.parameter @weight : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

func.func @f() -> tensor<2xf32> {
  // expected-error @+1 {{cuvil_tensor.parameter: @f is not a cuvil_tensor.global of the module}}
  %0 = cuvil_tensor.parameter @f : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
