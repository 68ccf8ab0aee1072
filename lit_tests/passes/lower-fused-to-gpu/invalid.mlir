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

// -----

func.func @main(%q: memref<1x2x8x16xf32>, %o: memref<1x2x8x16xf32>, %arena: memref<0xi8>)
    attributes {cuvil_fused.outputs = 1 : i64, cuvil_fused.arena_bytes = 0 : i64} {
  // expected-error @+1 {{pass 'lower-fused-to-gpu' failed: kernel @attention: a kernel of this family is of one contraction, convolution or pool; it has cuvil_tensor.attention; decompose takes attention apart}}
  cuvil_fused.kernel @attention(%a = %q) into(%o) family = attention access = <contraction> : (memref<1x2x8x16xf32>) into (memref<1x2x8x16xf32>) {
    %0 = cuvil_tensor.attention %a, %a, %a scale = 2.500000e-01 : tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32> -> tensor<1x2x8x16xf32>
    cuvil_fused.yield %0 : tensor<1x2x8x16xf32>
  }
  func.return
}
