// RUN: cuvil-opt %s -p lower-loops-to-llvm | filecheck %s
// Scratch memory of an iteration must lie on the stack of the thread that runs it.
// CHECK-LABEL: llvm.func internal @k.range
// CHECK: llvm.alloca %{{.*}} x f32 {alignment = 64 : i64}
// CHECK-LABEL: llvm.func @k
// CHECK-NOT: x f32
func.func @k(%n: index, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  "scf.parallel"(%c0, %n, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    %s = memref.alloca() {alignment = 64 : i64} : memref<16xf32>
    memref.store %v, %s[%i] : memref<16xf32>
    scf.reduce
  }) : (index, index, index) -> ()
  func.return
}
