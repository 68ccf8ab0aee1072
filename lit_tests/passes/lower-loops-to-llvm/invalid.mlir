// RUN: cuvil-opt %s -p lower-loops-to-llvm --split-input-file --verify-diagnostics
// What the loop level does not have is refused with the remedy, where there is one.

// expected-error @+2 {{math.exp: has no lowering to llvm: run lower-math first}}
func.func @exp(%v: f32) -> f32 {
  %0 = math.exp %v : f32
  func.return %0 : f32
}

// -----

func.func @nested(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  "scf.parallel"(%c0, %n, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    // expected-error @+1 {{scf.parallel: nested in another parallel loop}}
    "scf.parallel"(%c0, %n, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
    ^bb1(%j: index):
      scf.reduce
    }) : (index, index, index) -> ()
    scf.reduce
  }) : (index, index, index) -> ()
  func.return
}

// -----

func.func @strided(%n: index) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  // expected-error @+1 {{scf.parallel: expected one dimension from 0 in steps of 1, without results}}
  "scf.parallel"(%c0, %n, %c2) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    scf.reduce
  }) : (index, index, index) -> ()
  func.return
}

// -----

// expected-error @+1 {{func.func: @pair has 2 results, expected one at most}}
func.func @pair(%a: f32) -> (f32, f32) {
  func.return %a, %a : f32, f32
}

// -----

func.func @dynamic(%n: index) {
  // expected-error @+1 {{memref.alloca: expected a static size, got memref<?xf32>}}
  %0 = memref.alloca(%n) : memref<?xf32>
  func.return
}

// -----

// expected-error @+1 {{test.op: expected functions and globals at the top of a module}}
"test.op"() : () -> ()

// -----

// expected-error @+1 {{@main: cuvil.inputs is 2, but there are 2 buffers}}
func.func @main(%x: memref<4xf32>, %arena: memref<4xi8>) attributes {cuvil.inputs = 2 : i64} {
  func.return
}
