// RUN: cuvil-opt %s -p 'fuse,bufferize,plan-memory,lower-fused-to-loops{target=x86-64-v4 threads=2}' | filecheck %s
// RUN: cuvil-run %s --random --pipeline cpu --compare --no-print | filecheck %s --check-prefix=SAME
// One query has code of its own, and so have as many as a vector's lanes; no scratch depends on a length.
// CHECK: func.func private @attention
// CHECK: arith.cmpi sle, [[QUERIES:%s]], %
// CHECK: arith.cmpi sle, [[QUERIES]], %
// CHECK-NOT: memref.alloc(
// SAME: comparison 0 agrees
func.func @main(%q: tensor<2x4x?x32xf32, #cuvil_tensor.dims<2, 4, "s", 32>>, %k: tensor<2x4x?x32xf32, #cuvil_tensor.dims<2, 4, "t", 32>>) -> tensor<2x4x?x32xf32, #cuvil_tensor.dims<2, 4, "s", 32>> {
  %0 = cuvil_tensor.attention %q, %k, %k scale = 0.125 : tensor<2x4x?x32xf32, #cuvil_tensor.dims<2, 4, "s", 32>>, tensor<2x4x?x32xf32, #cuvil_tensor.dims<2, 4, "t", 32>>, tensor<2x4x?x32xf32, #cuvil_tensor.dims<2, 4, "t", 32>> -> tensor<2x4x?x32xf32, #cuvil_tensor.dims<2, 4, "s", 32>>
  func.return %0 : tensor<2x4x?x32xf32, #cuvil_tensor.dims<2, 4, "s", 32>>
}
