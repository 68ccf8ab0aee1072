// RUN: not cuvil-opt %s --load-pass-plugin=%S/../Inputs/test_passes.py -p 'func.func(test-add-function)' 2>&1 | filecheck %s
// RUN: cuvil-opt %s --load-pass-plugin=%S/../Inputs/test_passes.py -p test-add-function | filecheck %s --check-prefix=MODULE
// What a pass on one function does to the module around it would be lost, or clash: it is refused.

// CHECK: :7:1: error: pass 'test-add-function' failed: left func.func @f, func.func @declared in place of one func.func; run it on the module
// MODULE: func.func private @declared
func.func @f() {
  func.return
}
