// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// Lanes must agree, and an integer cast must do what its name says.

func.func @lanes(%c: vector<8xi1>, %f: vector<4xf32>) {
  // expected-error @+1 {{cuvil_vector.select: condition vector<8xi1> and result vector<4xf32> differ in lanes}}
  %0 = cuvil_vector.select %c, %f, %f : vector<8xi1>, vector<4xf32>
  func.return
}

// -----

func.func @cast(%f: vector<4xf32>) {
  // expected-error @+1 {{cuvil_vector.fptosi: input vector<4xf32> and result vector<8xi32> differ in lanes}}
  %0 = cuvil_vector.fptosi %f : vector<4xf32> to vector<8xi32>
  func.return
}

// -----

func.func @narrows(%i: vector<4xi32>) {
  // expected-error @+1 {{cuvil_vector.extsi: cannot widen vector<4xi32> to vector<4xi8>}}
  %0 = cuvil_vector.extsi %i : vector<4xi32> to vector<4xi8>
  func.return
}

// -----

func.func @widens(%i: vector<4xi32>) {
  // expected-error @+1 {{cuvil_vector.trunci: cannot narrow vector<4xi32> to vector<4xi64>}}
  %0 = cuvil_vector.trunci %i : vector<4xi32> to vector<4xi64>
  func.return
}

// -----

func.func @result(%f: vector<4xf32>) {
  // expected-error @+1 {{cuvil_vector.cmpf: operands vector<4xf32> and result vector<8xi1> differ in lanes}}
  %0 = "cuvil_vector.cmpf"(%f, %f) <{predicate = 1 : i64, fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<8xi1>
  func.return
}

// -----

func.func @unsigned_narrows(%i: vector<4xi32>) {
  // expected-error @+1 {{cuvil_vector.extui: cannot widen vector<4xi32> to vector<4xi8>}}
  %0 = cuvil_vector.extui %i : vector<4xi32> to vector<4xi8>
  func.return
}

// -----

func.func @fptoui(%v: vector<4xf32>) {
  // expected-error @+1 {{cuvil_vector.fptoui: input vector<4xf32> and result vector<8xi32> differ in lanes}}
  %0 = cuvil_vector.fptoui %v : vector<4xf32> to vector<8xi32>
  func.return
}

// -----

func.func @sitofp(%v: vector<4xi32>) {
  // expected-error @+1 {{cuvil_vector.sitofp: input vector<4xi32> and result vector<8xf32> differ in lanes}}
  %0 = cuvil_vector.sitofp %v : vector<4xi32> to vector<8xf32>
  func.return
}

// -----

func.func @uitofp(%v: vector<4xi32>) {
  // expected-error @+1 {{cuvil_vector.uitofp: input vector<4xi32> and result vector<8xf32> differ in lanes}}
  %0 = cuvil_vector.uitofp %v : vector<4xi32> to vector<8xf32>
  func.return
}

// -----

func.func @index_cast(%v: vector<4xi32>) {
  // expected-error @+1 {{cuvil_vector.index_cast: input vector<4xi32> and result vector<8xindex> differ in lanes}}
  %0 = cuvil_vector.index_cast %v : vector<4xi32> to vector<8xindex>
  func.return
}

// -----

func.func @predicate(%i: vector<4xi32>) {
  // expected-error @+1 {{cuvil_vector.cmpi: predicate 10 is not in 0..9}}
  %0 = "cuvil_vector.cmpi"(%i, %i) <{predicate = 10 : i64}> : (vector<4xi32>, vector<4xi32>) -> vector<4xi1>
  func.return
}

// -----

func.func @prefetches(%b: memref<4xf32>, %n: i32) {
  // expected-error @+1 {{cuvil_vector.prefetch: operand 'position' at position 1 does not verify: i32 should be of base attribute index}}
  "cuvil_vector.prefetch"(%b, %n) : (memref<4xf32>, i32) -> ()
  func.return
}
