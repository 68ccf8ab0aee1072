// RUN: cuvil-opt %s -p 'fuse,pack-weights{target=x86-64-v4},bufferize,plan-memory,lower-fused-to-loops{target=x86-64-v4 threads=1}' | filecheck %s
// RUN: cuvil-run %s --random --pipeline cpu --compare --no-print | filecheck %s --check-prefix=SAME
// An embedding: one index a row, then vectors along it. Negative indices count from the end.
// CHECK: func.func private @gather
// CHECK: memref.load {{.*}} memref<5xi64>
// CHECK: arith.cmpi slt
// CHECK: vector.load
// SAME: comparison 0 agrees
func.func @main(%t: tensor<9x32xf32>, %i: tensor<5xi64>) -> tensor<5x32xf32> {
  %0 = cuvil_tensor.gather %t, %i axes = [0] : tensor<9x32xf32>, tensor<5xi64> -> tensor<5x32xf32>
  func.return %0 : tensor<5x32xf32>
}
