// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// The access attribute by itself, with every pattern.
// CHECK: all = #cuvil_fused.access<streaming, broadcast, window, reduction, contraction, gather, movement>, none = #cuvil_fused.access<>
func.func @main() attributes {all = #cuvil_fused.access<streaming, broadcast, window, reduction, contraction, gather, movement>, none = #cuvil_fused.access<>} {
  func.return
}
