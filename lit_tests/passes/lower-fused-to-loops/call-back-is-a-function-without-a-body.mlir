// RUN: cuvil-opt %s --load-pass-plugin=%S/../../dialects/cuvil_tensor/custom/Inputs/custom_ops.py -p normalize,fuse,bufferize,plan-memory,lower-fused-to-loops --validate | filecheck %s
// The host program calls it like any kernel; the module says what stands behind the symbol.

// CHECK: cuvil.callbacks = {cuvil_callback_0_mylib__opaque = {op = "mylib::opaque", type = (tensor<4xf32>) -> tensor<4xf32>
// CHECK: func.call @cuvil_callback_0_mylib__opaque(%x, %out0)
// CHECK: func.func private @cuvil_callback_0_mylib__opaque(memref<4xf32>, memref<4xf32>) -> ()
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = cuvil_tensor.custom @"mylib::opaque"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
