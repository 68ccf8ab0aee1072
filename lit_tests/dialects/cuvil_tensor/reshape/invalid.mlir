// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// What the verifier and the parser refuse.

func.func @f(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{cuvil_tensor.reshape: 2x4 has 8 elements, 9 has 9}}
  %0 = cuvil_tensor.reshape %x : tensor<2x4xf32> -> tensor<9xf32>
  func.return
}

// -----

func.func @f(%x: tensor<?x4xf32, #cuvil_tensor.dims<"s0", 4>>) {
  // expected-error @+1 {{cuvil_tensor.reshape: s0x4 has 4*s0 elements, 2*s0 has 2*s0}}
  %0 = cuvil_tensor.reshape %x : tensor<?x4xf32, #cuvil_tensor.dims<"s0", 4>> -> tensor<?xf32, #cuvil_tensor.dims<"2*s0">>
  func.return
}

// -----

func.func @f(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{cuvil_tensor.reshape: result has type tensor<8xf64>, expected tensor<8xf32> by the shape rule}}
  %0 = cuvil_tensor.reshape %x : tensor<2x4xf32> -> tensor<8xf64>
  func.return
}
