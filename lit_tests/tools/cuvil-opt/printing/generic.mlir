// RUN: cuvil-opt %s --mlir-print-op-generic | filecheck %s
// RUN: cuvil-opt %s --print-op-generic | filecheck %s
// CHECK: "func.func"() <{sym_name = "f", function_type = () -> ()}> ({
// CHECK: "func.return"() : () -> ()
func.func @f() {
  func.return
}
