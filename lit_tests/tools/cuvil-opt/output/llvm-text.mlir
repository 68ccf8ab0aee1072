// RUN: cuvil-opt %s -p lower-loops-to-llvm{target=x86-64-v3} -t 'llvm{target=x86-64-v3}' | filecheck %s
// RUN: cuvil-opt %s -p lower-loops-to-llvm{target=x86-64-v3} -t llvm | filecheck %s
// RUN: not cuvil-opt %s -t llvm 2>&1 | filecheck %s --check-prefix=LEVEL
// RUN: not cuvil-opt %s -t 'llvm{cpu=x86}' 2>&1 | filecheck %s --check-prefix=OPTION
// Our text, for this machine or a named one; IR of another level is refused.
// CHECK: define {{.*}}@k(
// CHECK: fadd
// LEVEL: error: {{.*}}func.func
// OPTION: error: target 'llvm{cpu=x86}': expected NAME or NAME{target=MACHINE}
func.func private @k(%a: memref<8xf32>, %o: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %v = memref.load %a[%c0] : memref<8xf32>
  %w = arith.addf %v, %v : f32
  memref.store %w, %o[%c0] : memref<8xf32>
  func.return
}
