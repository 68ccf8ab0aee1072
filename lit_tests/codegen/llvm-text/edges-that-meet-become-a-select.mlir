// RUN: cuvil-opt %s -t llvm | filecheck %s
// A phi tells edges apart by the block that they come from.
// CHECK-LABEL: define i32 @pick
// CHECK: %[[CHOSEN:.*]] = select i1 %{{.*}}, i32 %{{.*}}, i32 %{{.*}}
// CHECK-NEXT: br label %b1
// CHECK: phi i32 [ %[[CHOSEN]], %b0 ]
llvm.func @pick(%c: i1, %a: i32, %b: i32) -> i32 {
  llvm.cond_br %c, ^bb1(%a : i32), ^bb1(%b : i32)
^bb1(%r: i32):
  llvm.return %r : i32
}
