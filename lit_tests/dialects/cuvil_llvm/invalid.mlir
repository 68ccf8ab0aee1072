// RUN: cuvil-opt %s --split-input-file --verify-diagnostics

llvm.func @lanes(%f: vector<4xf32>) {
  // expected-error @+1 {{operand vector<4xf32> and result vector<8xi32> differ in lanes}}
  %0 = cuvil_llvm.fptosi %f : vector<4xf32> to vector<8xi32>
  llvm.return
}
