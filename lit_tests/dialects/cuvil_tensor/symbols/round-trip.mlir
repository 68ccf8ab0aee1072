// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// A function lists its symbols in the order in which compiled code takes them.

// CHECK: func.func @f(%x: tensor<?x?xf32, #cuvil_tensor.dims<"seq", "batch">>) attributes {cuvil_tensor.symbols =
// CHECK-SAME: {seq = #cuvil_tensor.range<8, 512, multiple_of = 8>, batch = #cuvil_tensor.range<0, ?>}} {
func.func @f(%x: tensor<?x?xf32, #cuvil_tensor.dims<"seq", "batch">>) attributes {cuvil_tensor.symbols = {
    seq = #cuvil_tensor.range<8, 512, multiple_of = 8>, batch = #cuvil_tensor.range<0, ?, multiple_of = 1>}} {
  func.return
}
