// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// What the verifier and the parser refuse.

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{cuvil_tensor.unary: unknown kind 'expo'; did you mean 'exp'?}}
  %0 = cuvil_tensor.unary expo %x : tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{cuvil_tensor.unary: unknown kind 'add'; 'add' takes 2 operands}}
  %0 = cuvil_tensor.unary add %x : tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error @+1 {{cuvil_tensor.unary: kind 'exp' is not defined on i32}}
  %0 = cuvil_tensor.unary exp %x : tensor<4xi32>
  func.return
}

// -----

func.func @f(%x: tensor<?xf32>) {
  // expected-error @+1 {{cuvil_tensor.unary: tensor<?xf32> has an unknown dim without a name: give its dims by an encoding #cuvil_tensor.dims<...>}}
  %0 = cuvil_tensor.unary exp %x : tensor<?xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{cuvil_tensor.unary: result has type tensor<5xf32>, expected tensor<4xf32> by the shape rule}}
  %0 = "cuvil_tensor.unary"(%x) <{kind = "exp"}> : (tensor<4xf32>) -> tensor<5xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{cuvil_tensor.unary: unknown attribute 'fast'; it takes none}}
  %0 = "cuvil_tensor.unary"(%x) <{kind = "exp"}> {fast} : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}
