// RUN: not cuvil-opt %s --load-pass-plugin=%S/../Inputs/test_passes.py -p cse,test-invalid --mlir-print-ir-after-failure 2>&1 | filecheck %s
// CHECK-NOT: IR Dump After cse
// CHECK:     // -----// IR Dump After test-invalid Failed //----- //
// CHECK:     func.func @f() -> i32
func.func @f() {
  func.return
}
