// RUN: not cuvil-opt %s -p 'lower-fused-to-loops{target=z80}' 2>&1 | filecheck %s
// CHECK: lower-fused-to-loops: unknown cpu target 'z80'
func.func @main() {
  func.return
}
