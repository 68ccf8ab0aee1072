// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// What the verifier and the parser refuse.

func.func @f(%q: tensor<1x3x3x8xf32>, %k: tensor<1x2x5x8xf32>, %v: tensor<1x2x5x6xf32>) {
  // expected-error @+1 {{cuvil_tensor.attention: 3 query heads are no multiple of 2 key heads}}
  %0 = cuvil_tensor.attention %q, %k, %v scale = 1.0 : tensor<1x3x3x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x6xf32> -> tensor<1x3x3x6xf32>
  func.return
}

// -----

func.func @f(%q: tensor<1x4x3x8xf32>, %k: tensor<1x2x5x8xf32>, %v: tensor<1x2x4x6xf32>) {
  // expected-error @+1 {{cuvil_tensor.attention: query 1x4x3x8, key 1x2x5x8 and value 1x2x4x6 do not fit}}
  %0 = cuvil_tensor.attention %q, %k, %v scale = 1.0 : tensor<1x4x3x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x4x6xf32> -> tensor<1x4x3x6xf32>
  func.return
}

// -----

func.func @f(%q: tensor<1x4x3x8xf32>, %k: tensor<2x2x5x8xf32>, %v: tensor<2x2x5x6xf32>) {
  // expected-error @+1 {{cuvil_tensor.attention: batch dims of query, key and value differ}}
  %0 = cuvil_tensor.attention %q, %k, %v scale = 1.0 : tensor<1x4x3x8xf32>, tensor<2x2x5x8xf32>, tensor<2x2x5x6xf32> -> tensor<1x4x3x6xf32>
  func.return
}

// -----

func.func @f(%q: tensor<1x4x3x8xf32>, %k: tensor<1x2x5x8xf32>, %v: tensor<1x2x5x6xf32>, %m: tensor<3x5xi1>) {
  // expected-error @+1 {{cuvil_tensor.attention: mask is 3x5, expected 1x4x3x5}}
  %0 = cuvil_tensor.attention %q, %k, %v mask = %m scale = 1.0 : tensor<1x4x3x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x6xf32>, tensor<3x5xi1> -> tensor<1x4x3x6xf32>
  func.return
}

// -----

func.func @f(%q: tensor<1x4x3x8xf32>, %k: tensor<1x2x5x8xf32>, %v: tensor<1x2x5x6xf32>, %m: tensor<1x4x3x5xi32>) {
  // expected-error @+1 {{cuvil_tensor.attention: the mask is float or i1, got i32}}
  %0 = cuvil_tensor.attention %q, %k, %v mask = %m scale = 1.0 : tensor<1x4x3x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x6xf32>, tensor<1x4x3x5xi32> -> tensor<1x4x3x6xf32>
  func.return
}

// -----

func.func @f(%q: tensor<3x8xf32>) {
  // expected-error @+1 {{cuvil_tensor.attention: query, key and value are [..., heads, length, size] of one rank}}
  %0 = cuvil_tensor.attention %q, %q, %q scale = 1.0 : tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32> -> tensor<3x8xf32>
  func.return
}
