// RUN: cuvil-opt %s -p lower-fused-to-gpu --split-input-file --verify-diagnostics
// What is not ready for GPU kernels.

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{cuvil_fused.kernel: is not in destination style; run bufferize before lower-fused-to-gpu}}
  %0 = cuvil_fused.kernel @k(%a = %x) family = loop access = <streaming> : (tensor<4xf32>) -> (tensor<4xf32>) {
    %1 = cuvil_tensor.unary neg %a : tensor<4xf32>
    cuvil_fused.yield %1 : tensor<4xf32>
  }
  func.return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: memref<4xf32>) {
  // expected-error @+1 {{cuvil_fused.alloc: memory is not planned yet; run plan-memory before lower-fused-to-gpu}}
  %0 = cuvil_fused.alloc : memref<4xf32>
  cuvil_fused.free %0 : memref<4xf32>
  func.return
}
