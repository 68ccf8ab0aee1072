// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// What the verifier and the parser refuse.

func.func @f(%x: tensor<4x8xf32>, %y: tensor<7x2xf32>) {
  // expected-error @+1 {{cuvil_tensor.contract: contracted dims differ: lhs dim 1 is 8, rhs dim 0 is 7}}
  %0 = cuvil_tensor.contract %x, %y lhs_batch = [] rhs_batch = [] lhs_contract = [1] rhs_contract = [0] : tensor<4x8xf32>, tensor<7x2xf32> -> tensor<4x2xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %y: tensor<8x2xf32>) {
  // expected-error @+1 {{cuvil_tensor.contract: 1 contracted dims on the lhs, 0 on the rhs}}
  %0 = cuvil_tensor.contract %x, %y lhs_batch = [] rhs_batch = [] lhs_contract = [1] rhs_contract = [] : tensor<4x8xf32>, tensor<8x2xf32> -> tensor<4x2xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %y: tensor<8x2xf64>) {
  // expected-error @+1 {{cuvil_tensor.contract: operands differ in element type: f32, f64; cast first}}
  %0 = cuvil_tensor.contract %x, %y lhs_batch = [] rhs_batch = [] lhs_contract = [1] rhs_contract = [0] : tensor<4x8xf32>, tensor<8x2xf64> -> tensor<4x2xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %y: tensor<8x2xf32>) {
  // expected-error @+1 {{cuvil_tensor.contract: result has type tensor<2x4xf32>, expected tensor<4x2xf32> by the shape rule}}
  %0 = cuvil_tensor.contract %x, %y lhs_batch = [] rhs_batch = [] lhs_contract = [1] rhs_contract = [0] : tensor<4x8xf32>, tensor<8x2xf32> -> tensor<2x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x4xi1>) {
  // expected-error @+1 {{cuvil_tensor.contract: products are not defined on i1}}
  %0 = cuvil_tensor.contract %x, %x lhs_batch = [] rhs_batch = [] lhs_contract = [1] rhs_contract = [0] : tensor<4x4xi1>, tensor<4x4xi1> -> tensor<4x4xi1>
  func.return
}
