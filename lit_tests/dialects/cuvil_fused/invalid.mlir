// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// What the dialect refuses, with the whole message.

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{cuvil_fused.kernel: unknown family 'stencil'; it is one of loop, contraction, convolution, pool, attention, ordering}}
  %0 = cuvil_fused.kernel @k(%a = %x) family = stencil : (tensor<4xf32>) -> (tensor<4xf32>) {
    cuvil_fused.yield %a : tensor<4xf32>
  }
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{cuvil_fused.kernel: unknown attribute 'families'; it takes family, access, schedule}}
  %0 = cuvil_fused.kernel @k(%a = %x) families = loop : (tensor<4xf32>) -> (tensor<4xf32>) {
    cuvil_fused.yield %a : tensor<4xf32>
  }
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{cuvil_fused.kernel: 2 access patterns for 1 operands}}
  %0 = cuvil_fused.kernel @k(%a = %x) family = loop access = <streaming, gather> : (tensor<4xf32>) -> (tensor<4xf32>) {
    cuvil_fused.yield %a : tensor<4xf32>
  }
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{cuvil_fused.kernel: yields tensor<4xf32>, expected tensor<5xf32>}}
  %0 = cuvil_fused.kernel @k(%a = %x) family = loop : (tensor<4xf32>) -> (tensor<5xf32>) {
    cuvil_fused.yield %a : tensor<4xf32>
  }
  func.return
}

// -----

func.func @f(%x: memref<4xf32>) {
  // expected-error @+1 {{cuvil_fused.kernel: a kernel that reads buffers must write into buffers}}
  %0 = cuvil_fused.kernel @k(%a = %x) family = loop : (memref<4xf32>) -> (tensor<4xf32>) {
    cuvil_fused.yield %a : tensor<4xf32>
  }
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+2 {{cuvil_tensor.unary: operation cuvil_tensor.unary terminates block in single-block region but is not a terminator}}
  %0 = cuvil_fused.kernel @k(%a = %x) family = loop : (tensor<4xf32>) -> (tensor<4xf32>) {
    %b = cuvil_tensor.unary relu %a : tensor<4xf32>
  }
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{cuvil_fused.kernel: as many types as operands are needed}}
  %0 = cuvil_fused.kernel @k(%a = %x) family = loop : () -> (tensor<4xf32>) {
    cuvil_fused.yield %a : tensor<4xf32>
  }
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{cuvil_fused.kernel: block arguments do not have the operands' types}}
  "cuvil_fused.kernel"(%x) <{kernel_name = "k", family = "loop", operandSegmentSizes = array<i32: 1, 0>}> ({
  ^bb0(%a: tensor<5xf32>):
    "cuvil_fused.yield"(%a) : (tensor<5xf32>) -> ()
  }) : (tensor<4xf32>) -> (tensor<5xf32>)
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{cuvil_fused.kernel: unknown attribute 'note'}}
  "cuvil_fused.kernel"(%x) <{kernel_name = "k", family = "loop", operandSegmentSizes = array<i32: 1, 0>}> ({
  ^bb0(%a: tensor<4xf32>):
    "cuvil_fused.yield"(%a) : (tensor<4xf32>) -> ()
  }) {note = 1 : i64} : (tensor<4xf32>) -> (tensor<4xf32>)
  func.return
}

// -----

func.func @f(%x: memref<4xf32>) {
  // expected-error @+1 {{cuvil_fused.kernel: a kernel that writes into buffers has no results}}
  %0 = "cuvil_fused.kernel"(%x, %x) <{kernel_name = "k", family = "loop", operandSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%a: tensor<4xf32>):
    "cuvil_fused.yield"(%a) : (tensor<4xf32>) -> ()
  }) : (memref<4xf32>, memref<4xf32>) -> (tensor<4xf32>)
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // expected-error @+1 {{cuvil_fused.kernel: operation using value defined out of its IsolatedFromAbove parent: YieldOp(cuvil_fused.yield %y : tensor<4xf32>)}}
  %0 = cuvil_fused.kernel @k(%a = %x) family = loop : (tensor<4xf32>) -> (tensor<4xf32>) {
    cuvil_fused.yield %y : tensor<4xf32>
  }
  func.return
}

// -----

// expected-error @+1 {{cannot parse: cuvil_fused.access: unknown pattern 'random'; it is one of streaming, broadcast, window, reduction, contraction, gather, movement}}
func.func @f() attributes {a = #cuvil_fused.access<random>} {
  func.return
}

// -----

// expected-error @+1 {{cannot parse: cuvil_fused.schedule: unknown entry 'speed'; it is one of tiles, vector, parallel, unroll, stages, panel}}
func.func @f() attributes {a = #cuvil_fused.schedule<speed = 3>} {
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{cuvil_fused.yield: 'cuvil_fused.yield' expects parent op 'cuvil_fused.kernel'}}
  cuvil_fused.yield %x : tensor<4xf32>
}

// -----

func.func @f() {
  // expected-error @+1 {{cuvil_fused.alloc: unknown attribute 'alignment'}}
  %0 = cuvil_fused.alloc {alignment = 64 : i64} : memref<4xf32>
  func.return
}

// -----

func.func @f() {
  // expected-error @+2 {{cannot parse: tensor<4xf32> should be of base attribute memref}}
  %0 = cuvil_fused.alloc : tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: memref<4xf32>) {
  // expected-error @+1 {{cuvil_fused.free: unknown attribute 'now'}}
  cuvil_fused.free %x {now = true} : memref<4xf32>
  func.return
}

// -----

func.func @f(%x: memref<4xf32>, %y: memref<2x2xf32>) {
  // expected-error @+1 {{cuvil_fused.copy: source is memref<4xf32>, target memref<2x2xf32>}}
  cuvil_fused.copy %x, %y : memref<4xf32>, memref<2x2xf32>
  func.return
}

// -----

func.func @f() {
  // expected-error @+1 {{cuvil_fused.parameter: @nowhere is no cuvil_tensor.global of shape and type memref<4xf32>}}
  %0 = cuvil_fused.parameter @nowhere : memref<4xf32>
  func.return
}

// -----

cuvil_tensor.global @w : tensor<4xf32>
func.func @f() {
  // expected-error @+1 {{cuvil_fused.parameter: @w is no cuvil_tensor.global of shape and type memref<5xf32>}}
  %0 = cuvil_fused.parameter @w : memref<5xf32>
  func.return
}

// -----

func.func @f(%arena: memref<64xi8>) {
  // expected-error @+1 {{cuvil_fused.arena_view: 16 bytes at 64 do not fit an arena of 64 bytes}}
  %0 = cuvil_fused.arena_view %arena at 64 : memref<64xi8> to memref<4xf32>
  func.return
}

// -----

func.func @f(%arena: memref<64xi8>) {
  // expected-error @+1 {{cuvil_fused.arena_view: offset 16 is not a multiple of 64 bytes}}
  %0 = cuvil_fused.arena_view %arena at 16 : memref<64xi8> to memref<4xf32>
  func.return
}

// -----

func.func @f(%arena: memref<16xf32>) {
  // expected-error @+1 {{cuvil_fused.arena_view: the arena is a flat buffer of i8, got memref<16xf32>}}
  %0 = cuvil_fused.arena_view %arena at 0 : memref<16xf32> to memref<4xf32>
  func.return
}
