// RUN: cuvil-opt %s -p lower-loops-to-llvm | filecheck %s
// Inside a loop it would take new memory at each iteration.
// CHECK-LABEL: llvm.func @scratch
// CHECK: llvm.alloca %{{.*}} x f32 {alignment = 64 : i64} : (i64) -> !llvm.ptr
// CHECK: ^{{.*}}(%{{.*}}: i64):
// CHECK-NOT: llvm.alloca
func.func @scratch(%n: index, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %s = memref.alloca() {alignment = 64 : i64} : memref<16xf32>
    memref.store %v, %s[%c0] : memref<16xf32>
  }
  func.return
}
