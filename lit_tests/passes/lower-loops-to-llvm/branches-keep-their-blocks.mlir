// RUN: cuvil-opt %s -p lower-loops-to-llvm | cuvil-opt | filecheck %s
// Unstructured control flow maps block by block; block arguments stay block arguments.
// CHECK-LABEL: llvm.func @branches
// CHECK: llvm.cond_br %{{.*}}, ^[[JOIN:.*]](%{{.*}} : f32), ^[[OTHER:.*]]
// CHECK: ^[[OTHER]]:
// CHECK: llvm.br ^[[JOIN]](%{{.*}} : f32)
func.func @branches(%c: i1, %a: f32, %b: f32) -> f32 {
  cf.cond_br %c, ^join(%a : f32), ^other
^other:
  cf.br ^join(%b : f32)
^join(%r: f32):
  func.return %r : f32
}
