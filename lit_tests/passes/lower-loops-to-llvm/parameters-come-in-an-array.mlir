// RUN: cuvil-opt %s -p lower-loops-to-llvm | filecheck %s
// A function that reads one, or calls one that does, takes the array last.
// CHECK: llvm.func internal @read(%{{.*}}: !llvm.ptr, %[[ARRAY:.*]]: !llvm.ptr)
// CHECK: %[[ONE:.*]] = llvm.mlir.constant(1) : i64
// CHECK: %[[SLOT:.*]] = llvm.getelementptr %[[ARRAY]][%[[ONE]]] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
// CHECK: llvm.load %[[SLOT]] {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
// CHECK: llvm.func @caller(%[[X:.*]]: !llvm.ptr, %[[PASSED:.*]]: !llvm.ptr)
// CHECK: llvm.call @read(%[[X]], %[[PASSED]])
// CHECK: llvm.func @other(%{{.*}}: !llvm.ptr) {
"memref.global"() <{sym_name = "v", sym_visibility = "private", type = memref<4xf32>, initial_value}> : () -> ()
"memref.global"() <{sym_name = "w", sym_visibility = "private", type = memref<4xf32>, initial_value}> : () -> ()
func.func private @read(%x: memref<4xf32>) {
  %w = memref.get_global @w : memref<4xf32>
  "memref.copy"(%w, %x) : (memref<4xf32>, memref<4xf32>) -> ()
  func.return
}
func.func @caller(%x: memref<4xf32>) {
  func.call @read(%x) : (memref<4xf32>) -> ()
  func.return
}
func.func @other(%x: memref<4xf32>) {
  func.return
}
