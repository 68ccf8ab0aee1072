// RUN: cuvil-opt %s -p lower-fused-to-loops --split-input-file --verify-diagnostics
// What earlier passes must have done.

func.func @unplanned(%x: memref<4xf32>) {
  // expected-error @+1 {{cuvil_fused.alloc: memory is not planned yet; run plan-memory before lower-fused-to-loops}}
  %a = cuvil_fused.alloc : memref<4xf32>
  cuvil_fused.free %a : memref<4xf32>
  func.return
}

// -----

func.func @outside(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{cuvil_tensor.unary: is outside of a kernel; run fuse and bufferize before}}
  %0 = cuvil_tensor.unary neg %x : tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// -----

func.func @on_values(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{cuvil_fused.kernel: is not in destination style; run bufferize before lower-fused-to-loops}}
  %0 = cuvil_fused.kernel @neg(%a = %x) family = loop access = <streaming> : (tensor<4xf32>) -> (tensor<4xf32>) {
    %1 = cuvil_tensor.unary neg %a : tensor<4xf32>
    cuvil_fused.yield %1 : tensor<4xf32>
  }
  func.return %0 : tensor<4xf32>
}

// -----

func.func @unpacked(%x: memref<1x4x4x2xf32>, %w: memref<2x2x1x1xf32>, %o: memref<1x4x4x2xf32>) {
  // expected-error @+1 {{kernel @convolution: cuvil_tensor.convolution: its weight is not packed; run pack-weights on this module}}
  cuvil_fused.kernel @convolution(%a = %x, %b = %w) into(%o) family = convolution access = <window, contraction>
    : (memref<1x4x4x2xf32>, memref<2x2x1x1xf32>) into (memref<1x4x4x2xf32>) {
    %1 = cuvil_tensor.convolution %a, %b input_order = [0, 3, 1, 2] strides = [1, 1] low = [0, 0] high = [0, 0] dilation = [1, 1] input_dilation = [1, 1] groups = 1 : tensor<1x4x4x2xf32>, tensor<2x2x1x1xf32> -> tensor<1x4x4x2xf32>
    cuvil_fused.yield %1 : tensor<1x4x4x2xf32>
  }
  func.return
}

// -----

func.func @unlisted(%x: memref<?xf32, #cuvil_tensor.dims<"s0">>, %o: memref<?xf32, #cuvil_tensor.dims<"s0">>)
    attributes {cuvil_tensor.symbols = {s1 = #cuvil_tensor.range<0, ?>}} {
  // expected-error @+1 {{cuvil_fused.kernel: symbol s0 is none of the function's; list it in its symbols}}
  cuvil_fused.kernel @neg(%a = %x) into(%o) family = loop access = <streaming>
    : (memref<?xf32, #cuvil_tensor.dims<"s0">>) into (memref<?xf32, #cuvil_tensor.dims<"s0">>) {
    %1 = cuvil_tensor.unary neg %a : tensor<?xf32, #cuvil_tensor.dims<"s0">>
    cuvil_fused.yield %1 : tensor<?xf32, #cuvil_tensor.dims<"s0">>
  }
  func.return
}

// -----

func.func @no_anchor(%x: memref<4xf32>, %o: memref<4xf32>) {
  // expected-error @+1 {{a kernel of this family is of one contraction, convolution, pool or attention; it has none}}
  cuvil_fused.kernel @neg(%a = %x) into(%o) family = contraction access = <contraction> : (memref<4xf32>) into (memref<4xf32>) {
    %1 = cuvil_tensor.unary neg %a : tensor<4xf32>
    cuvil_fused.yield %1 : tensor<4xf32>
  }
  func.return
}

// -----

// expected-error @+1 {{the function has several blocks; write its control flow with scf}}
func.func @blocks(%x: memref<4xf32>, %o: memref<4xf32>) {
  cuvil_fused.kernel @neg(%a = %x) into(%o) family = loop access = <streaming> : (memref<4xf32>) into (memref<4xf32>) {
    %1 = cuvil_tensor.unary neg %a : tensor<4xf32>
    cuvil_fused.yield %1 : tensor<4xf32>
  }
  cf.br ^end
^end:
  func.return
}
