// RUN: cuvil-opt %s -p 'fuse,pack-weights{target=x86-64-v4},bufferize,plan-memory,lower-fused-to-loops{target=x86-64-v4 threads=1}' | filecheck %s
// RUN: cuvil-run %s --random --pipeline cpu --compare --no-print | filecheck %s --check-prefix=SAME
// Minima and maxima are a compare and a repair where the new element is NaN.
// CHECK: func.func private @pool
// CHECK: cmpf olt
// CHECK: cmpf uno
// SAME: comparison 0 agrees
func.func @main(%x: tensor<1x6x6x16xf32>) -> tensor<1x3x3x16xf32> {
  %0 = cuvil_tensor.pool min %x input_order = [0, 3, 1, 2] kernel = [2, 2] strides = [2, 2] low = [0, 0] high = [0, 0] dilation = [1, 1] : tensor<1x6x6x16xf32> -> tensor<1x3x3x16xf32>
  func.return %0 : tensor<1x3x3x16xf32>
}
