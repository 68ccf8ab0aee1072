// RUN: not cuvil-opt %s -p "lower-loops-to-llvm{target=z80}" 2>&1 | filecheck %s
// A target that nobody knows is refused with the names that there are.
// CHECK: lower-loops-to-llvm: unknown cpu target 'z80': expected one of host, x86-64-v2, x86-64-v3, x86-64-v4, aarch64
func.func @f() {
  func.return
}
