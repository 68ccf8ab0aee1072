// RUN: cuvil-opt %s -t llvm | filecheck %s
// CHECK-LABEL: define i64 @count(i64 %v0)
// CHECK: br label %b1
// CHECK: b1:
// CHECK-NEXT: %[[I:.*]] = phi i64 [ 0, %b0 ], [ %[[NEXT:.*]], %b1 ]
// CHECK: %[[NEXT]] = add nsw i64 %[[I]], 1
// CHECK: br i1 %{{.*}}, label %b1, label %b2
llvm.func @count(%n: i64) -> i64 {
  %0 = llvm.mlir.constant(0) : i64
  %1 = llvm.mlir.constant(1) : i64
  llvm.br ^bb1(%0 : i64)
^bb1(%i: i64):
  %next = llvm.add %i, %1 overflow<nsw> : i64
  %more = llvm.icmp "slt" %next, %n : i64
  llvm.cond_br %more, ^bb1(%next : i64), ^bb2
^bb2:
  llvm.return %next : i64
}
