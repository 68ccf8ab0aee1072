// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// Lanes must agree, and an integer cast must do what its name says.

func.func @lanes(%c: vector<8xi1>, %f: vector<4xf32>) {
  // expected-error @+1 {{condition vector<8xi1> and result vector<4xf32> differ in lanes}}
  %0 = cuvil_vector.select %c, %f, %f : vector<8xi1>, vector<4xf32>
  func.return
}

// -----

func.func @cast(%f: vector<4xf32>) {
  // expected-error @+1 {{input vector<4xf32> and result vector<8xi32> differ in lanes}}
  %0 = cuvil_vector.fptosi %f : vector<4xf32> to vector<8xi32>
  func.return
}

// -----

func.func @narrows(%i: vector<4xi32>) {
  // expected-error @+1 {{cannot widen vector<4xi32> to vector<4xi8>}}
  %0 = cuvil_vector.extsi %i : vector<4xi32> to vector<4xi8>
  func.return
}

// -----

func.func @widens(%i: vector<4xi32>) {
  // expected-error @+1 {{cannot narrow vector<4xi32> to vector<4xi64>}}
  %0 = cuvil_vector.trunci %i : vector<4xi32> to vector<4xi64>
  func.return
}

// -----

func.func @result(%f: vector<4xf32>) {
  // expected-error @+1 {{operands vector<4xf32> and result vector<8xi1> differ in lanes}}
  %0 = "cuvil_vector.cmpf"(%f, %f) <{predicate = 1 : i64, fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<8xi1>
  func.return
}
