// RUN: not cuvil-opt %s 2>&1 | filecheck %s
// Upstream's lexer takes exponential time for this.
// CHECK: :4:6: error: end of file reached before closing string literal.
%0 = "test.op() {a = abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz} : () -> i32
