// RUN: cuvil-opt %s -p lower-loops-to-llvm | cuvil-opt | filecheck %s
// One branch an iteration: the test before the loop only guards against no iteration at all.
// CHECK-LABEL: llvm.func @loop
// CHECK: llvm.icmp "slt" %[[LO:.*]], %[[HI:.*]] : i64
// CHECK: llvm.cond_br %{{.*}}, ^[[BODY:.*]](%[[LO]] : i64), ^[[AFTER:.*]]
// CHECK: ^[[BODY]](%[[I:.*]]: i64):
// CHECK: %[[NEXT:.*]] = llvm.add %[[I]], %{{.*}} overflow<nsw> : i64
// CHECK: %[[MORE:.*]] = llvm.icmp "slt" %[[NEXT]], %[[HI]] : i64
// CHECK: llvm.cond_br %[[MORE]], ^[[BODY]](%[[NEXT]] : i64), ^[[AFTER]]
func.func @loop(%x: memref<8xf32>, %lo: index, %hi: index) {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %lo to %hi step %c1 {
    memref.store %zero, %x[%i] : memref<8xf32>
  }
  func.return
}
