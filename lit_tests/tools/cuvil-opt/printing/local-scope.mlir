// RUN: cuvil-opt %s --mlir-print-local-scope | filecheck %s
// Aliases are resolved on parsing, so that printing is always local.
#map = affine_map<(d0) -> (d0)>
// CHECK-NOT: #map
// CHECK: "test.op"() {map = affine_map<(d0) -> (d0)>} : () -> ()
"test.op"() {map = #map} : () -> ()
