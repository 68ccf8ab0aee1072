// RUN: cuvil-opt %s -p lower-loops-to-llvm | filecheck %s
// Known to run at least once: the test before the first iteration is left out.
// CHECK-LABEL: llvm.func @loop
// CHECK-NOT: llvm.cond_br
// CHECK: llvm.br ^{{.*}}(%{{.*}} : i64)
// CHECK: llvm.cond_br
// CHECK-NOT: llvm.cond_br
func.func @loop(%x: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c8 step %c1 {
    memref.store %zero, %x[%i] : memref<8xf32>
  }
  func.return
}
