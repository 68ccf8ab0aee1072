// RUN: not cuvil-opt %s --load-pass-plugin=%S/../Inputs/test_passes.py -p cse,test-invalid,dce 2>&1 | filecheck %s
// RUN: not cuvil-opt %s --load-pass-plugin=%S/../Inputs/test_passes.py -p cse,test-invalid,dce --verify-each=0 2>&1 | filecheck %s --check-prefix=END
// RUN: cuvil-opt %s --load-pass-plugin=%S/../Inputs/test_passes.py -p cse,test-invalid,dce --disable-verify | filecheck %s --check-prefix=NEVER
// Verifying after each pass names the pass; at the end alone, only the operation.
// CHECK: :9:3: error: after pass 'test-invalid': func.return: expected arguments
// END: :9:3: error: func.return: expected arguments
// NEVER: func.func @f() -> i32
func.func @f() {
  func.return
}
