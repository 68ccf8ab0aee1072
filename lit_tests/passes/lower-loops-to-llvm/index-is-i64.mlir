// RUN: cuvil-opt %s -p lower-loops-to-llvm | filecheck %s
// CHECK-LABEL: llvm.func @narrow(%{{.*}}: i64) -> i32
// CHECK: llvm.trunc %{{.*}} : i64 to i32
func.func @narrow(%a: index) -> i32 {
  %0 = arith.index_cast %a : index to i32
  func.return %0 : i32
}
// The width is the same: nothing to do.
// CHECK-LABEL: llvm.func @same
// CHECK-NOT: llvm.sext
// CHECK: llvm.return %{{.*}} : i64
func.func @same(%a: index) -> i64 {
  %0 = arith.index_cast %a : index to i64
  func.return %0 : i64
}
