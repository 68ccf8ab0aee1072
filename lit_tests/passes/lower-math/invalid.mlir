// RUN: cuvil-opt %s -p lower-math --split-input-file --verify-diagnostics
// Expansions are for scalars and rank-1 vectors of the types named; anything else is an error at the op.

func.func @rank_two(%x: vector<4x8xf32>) -> vector<4x8xf32> {
  // expected-error @+1 {{math.exp: cannot expand on vector<4x8xf32>: expected one of f16, bf16, f32, f64 or a rank-1 vector of it}}
  %0 = math.exp %x : vector<4x8xf32>
  func.return %0 : vector<4x8xf32>
}

// -----

func.func @tensor(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{math.tanh: cannot expand on tensor<8xf32>: expected one of f16, bf16, f32, f64 or a rank-1 vector of it}}
  %0 = math.tanh %x : tensor<8xf32>
  func.return %0 : tensor<8xf32>
}

// -----

func.func @extended(%x: f80) -> f80 {
  // expected-error @+1 {{math.log: cannot expand on f80: expected one of f16, bf16, f32, f64 or a rank-1 vector of it}}
  %0 = math.log %x : f80
  func.return %0 : f80
}

// -----

func.func @index(%x: index) -> index {
  // expected-error @+1 {{math.ipowi: cannot expand on index: expected one of i8, i16, i32, i64 or a rank-1 vector of it}}
  %0 = math.ipowi %x, %x : index
  func.return %0 : index
}

// -----

// The accepted twin.
func.func @rank_one(%x: vector<8xf32>) -> vector<8xf32> {
  %0 = math.exp %x : vector<8xf32>
  func.return %0 : vector<8xf32>
}
