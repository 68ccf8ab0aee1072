// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// Lanes must agree, and a predicate must be one of LLVM's.

llvm.func @converts(%f: vector<4xf32>) {
  // expected-error @+1 {{cuvil_llvm.fptosi: operand vector<4xf32> and result vector<8xi32> differ in lanes}}
  %0 = cuvil_llvm.fptosi %f : vector<4xf32> to vector<8xi32>
  llvm.return
}

// -----

llvm.func @converts_unsigned(%f: vector<4xf32>) {
  // expected-error @+1 {{cuvil_llvm.fptoui: operand vector<4xf32> and result i32 differ in lanes}}
  %0 = cuvil_llvm.fptoui %f : vector<4xf32> to i32
  llvm.return
}

// -----

llvm.func @converts_back(%i: vector<4xi32>) {
  // expected-error @+1 {{cuvil_llvm.uitofp: operand vector<4xi32> and result vector<2xf32> differ in lanes}}
  %0 = cuvil_llvm.uitofp %i : vector<4xi32> to vector<2xf32>
  llvm.return
}

// -----

llvm.func @selects(%c: vector<8xi1>, %f: vector<4xf32>) {
  // expected-error @+1 {{cuvil_llvm.select: condition vector<8xi1> and result vector<4xf32> differ in lanes}}
  %0 = cuvil_llvm.select %c, %f, %f : vector<8xi1>, vector<4xf32>
  llvm.return
}

// -----

llvm.func @compares(%f: vector<4xf32>) {
  // expected-error @+1 {{cuvil_llvm.fcmp: operands vector<4xf32> and result vector<8xi1> differ in lanes}}
  %0 = "cuvil_llvm.fcmp"(%f, %f) <{predicate = 1 : i64, fastmathFlags = #llvm.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<8xi1>
  llvm.return
}

// -----

llvm.func @predicate(%f: vector<4xf32>) {
  // expected-error @+1 {{cuvil_llvm.fcmp: predicate 99 is not in 0..15}}
  %0 = "cuvil_llvm.fcmp"(%f, %f) <{predicate = 99 : i64, fastmathFlags = #llvm.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xi1>
  llvm.return
}

// -----

llvm.func @extracts(%f: vector<4xf32>, %n: f32) {
  // expected-error @+1 {{cuvil_llvm.extractelement: operand 'index' at position 1 does not verify: f32 should be of base attribute integer_type}}
  %0 = "cuvil_llvm.extractelement"(%f, %n) : (vector<4xf32>, f32) -> f32
  llvm.return
}
