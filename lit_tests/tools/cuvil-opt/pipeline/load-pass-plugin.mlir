// RUN: rm -f %t.py
// RUN: not cuvil-opt %s --load-pass-plugin=%t.py --test-mine 2>&1 | filecheck %s --check-prefix=MISSING
// RUN: printf 'from xdsl.passes import ModulePass\nclass Mine(ModulePass):\n    name = "test-mine"\n    def apply(self, ctx, op):\n        op.attributes.clear()\n' > %t.py
// RUN: cuvil-opt %s --load-pass-plugin=%t.py --test-mine | filecheck %s
// RUN: printf 'import nothing_like_it\n' > %t.py
// RUN: not cuvil-opt %s --load-pass-plugin=%t.py 2>&1 | filecheck %s --check-prefix=BROKEN
// A researcher's pass needs no installation.

// CHECK-NOT: my.attribute
// MISSING: error: cannot load passes from '{{.*}}': not a Python file
// BROKEN: {{.*}}.py:1:1: error: cannot load passes from '{{.*}}': ModuleNotFoundError: No module named 'nothing_like_it'
// BROKEN-NEXT: import nothing_like_it
builtin.module attributes {my.attribute} {
}
