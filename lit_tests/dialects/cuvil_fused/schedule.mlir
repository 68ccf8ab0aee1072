// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// The schedule attribute by itself, with every entry; a list of one number is written as the number.
// CHECK: all = #cuvil_fused.schedule<tiles = [12, 32], vector = 16, parallel = 1, unroll = 4, stages = 2, panel = 32>, none = #cuvil_fused.schedule<>
func.func @main() attributes {all = #cuvil_fused.schedule<tiles = [12, 32], vector = [16], parallel = 1, unroll = 4, stages = 2, panel = 32>, none = #cuvil_fused.schedule<>} {
  func.return
}
