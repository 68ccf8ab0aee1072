// RUN: cuvil-opt %s -p 'fuse,pack-weights{target=x86-64-v4},bufferize,plan-memory,lower-fused-to-loops{target=x86-64-v4 threads=1}' | filecheck %s
// RUN: cuvil-run %s --random --pipeline cpu --compare --no-print | filecheck %s --check-prefix=SAME
// Costly values needed by two sweeps of a row are kept on the stack: one exp in the code of each vector.
// CHECK: func.func private
// CHECK: memref.alloca
// CHECK: vector.reduction <maximumf>
// CHECK: math.exp
// CHECK: vector.reduction <add>
// CHECK-NOT: math.exp
// CHECK: arith.divf
// SAME: comparison 0 agrees
func.func @main(%x: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %m = cuvil_tensor.reduce max %x axes = [1] : tensor<4x64xf32> -> tensor<4xf32>
  %mb = cuvil_tensor.broadcast %m axes = [0] : tensor<4xf32> -> tensor<4x64xf32>
  %d = cuvil_tensor.binary sub %x, %mb : tensor<4x64xf32>
  %e = cuvil_tensor.unary exp %d : tensor<4x64xf32>
  %s = cuvil_tensor.reduce add %e axes = [1] : tensor<4x64xf32> -> tensor<4xf32>
  %sb = cuvil_tensor.broadcast %s axes = [0] : tensor<4xf32> -> tensor<4x64xf32>
  %r = cuvil_tensor.binary div %e, %sb : tensor<4x64xf32>
  func.return %r : tensor<4x64xf32>
}
