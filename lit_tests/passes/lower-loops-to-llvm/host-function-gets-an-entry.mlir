// RUN: cuvil-opt %s -p lower-loops-to-llvm | cuvil-opt | filecheck %s
// cuvil_entry unpacks the arrays of the C ABI and calls the host function with bare pointers and sizes.
// CHECK: llvm.func @main(%{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr)
// CHECK: llvm.func @cuvil_entry(%[[IN:.*]]: !llvm.ptr, %[[OUT:.*]]: !llvm.ptr, %[[ARENA:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr, %[[SYMBOLS:.*]]: !llvm.ptr) -> i32
// CHECK: %[[X:.*]] = llvm.load %{{.*}} : !llvm.ptr -> !llvm.ptr
// CHECK: %[[N:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i64
// CHECK: %[[Y:.*]] = llvm.load %{{.*}} : !llvm.ptr -> !llvm.ptr
// CHECK: llvm.call @main(%[[X]], %[[N]], %[[Y]], %[[ARENA]])
// CHECK: llvm.return %{{.*}} : i32
func.func @main(%x: memref<?xf32>, %n: index, %y: memref<?xf32>, %arena: memref<64xi8>) attributes {cuvil.inputs = 1 : i64} {
  func.return
}
