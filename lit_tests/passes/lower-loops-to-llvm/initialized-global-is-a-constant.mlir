// RUN: cuvil-opt %s -p lower-loops-to-llvm | filecheck %s
// Only uninitialized globals are parameters; a table of numbers goes into the code.
// CHECK: llvm.mlir.global internal constant @table(dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>) {{.*}} : !llvm.array<2 x f32>
// CHECK: llvm.mlir.addressof @table
"memref.global"() <{sym_name = "table", sym_visibility = "private", type = memref<2xf32>, constant, initial_value = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> ()
func.func @read() -> f32 {
  %c0 = arith.constant 0 : index
  %t = memref.get_global @table : memref<2xf32>
  %v = memref.load %t[%c0] : memref<2xf32>
  func.return %v : f32
}
