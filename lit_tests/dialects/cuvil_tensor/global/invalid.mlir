// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// What the verifier and the parser refuse.

// expected-error @+1 {{cuvil_tensor.global: expected a tensor type, got f32}}
cuvil_tensor.global @weight : f32

// -----

// expected-error @+1 {{cuvil_tensor.global: @weight is tensor<2xf32>, its initializer yields tensor<3xf32>}}
cuvil_tensor.global @weight : tensor<2xf32> {
  %0 = cuvil_tensor.constant dense<1.0> : tensor<3xf32>
  cuvil_tensor.init_yield %0 : tensor<3xf32>
}

// -----

cuvil_tensor.global @weight : tensor<3xf32> {
  // expected-error @+1 {{cuvil_tensor.constant: operation cuvil_tensor.constant terminates block in single-block region but is not a terminator}}
  %0 = cuvil_tensor.constant dense<1.0> : tensor<3xf32>
}

// -----

// expected-error @+1 {{cuvil_tensor.global: an initializer takes nothing and ends in cuvil_tensor.init_yield}}
cuvil_tensor.global @weight : tensor<3xf32> {
^bb0(%0: tensor<3xf32>):
  cuvil_tensor.init_yield %0 : tensor<3xf32>
}

// -----

// expected-error @+1 {{cuvil_tensor.global: unknown attribute 'frozen'}}
"cuvil_tensor.global"() <{sym_name = "weight", value_type = tensor<2xf32>}> {frozen} : () -> ()

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{'cuvil_tensor.init_yield' expects parent op 'cuvil_tensor.global'}}
  cuvil_tensor.init_yield %x : tensor<2xf32>
}
