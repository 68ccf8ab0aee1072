// RUN: cuvil-opt %s -p plan-memory --split-input-file --verify-diagnostics
// Broken lifetimes.

func.func @leak() attributes {cuvil_fused.outputs = 0 : i64} {
  // expected-error @+1 {{pass 'plan-memory' failed: cuvil_fused.alloc: %a : memref<4xf32> is never freed: add a cuvil_fused.free after its last use, in the same block}}
  %a = cuvil_fused.alloc : memref<4xf32>
  func.return
}

// -----

func.func @double_free() attributes {cuvil_fused.outputs = 0 : i64} {
  %a = cuvil_fused.alloc : memref<4xf32>
  // expected-note @+1 {{freed here}}
  cuvil_fused.free %a : memref<4xf32>
  // expected-error @+1 {{pass 'plan-memory' failed: cuvil_fused.free: %a is freed twice}}
  cuvil_fused.free %a : memref<4xf32>
  func.return
}

// -----

func.func @use_after_free(%out0: memref<4xf32>) attributes {cuvil_fused.outputs = 1 : i64} {
  %a = cuvil_fused.alloc : memref<4xf32>
  // expected-note @+1 {{freed here}}
  cuvil_fused.free %a : memref<4xf32>
  // expected-error @+1 {{pass 'plan-memory' failed: cuvil_fused.copy: %a is used after it is freed}}
  cuvil_fused.copy %a, %out0 : memref<4xf32>, memref<4xf32>
  func.return
}

// -----

func.func @use_after_free_in_a_region(%c: i1, %out0: memref<4xf32>) attributes {cuvil_fused.outputs = 1 : i64} {
  %a = cuvil_fused.alloc : memref<4xf32>
  // expected-note @+1 {{freed here}}
  cuvil_fused.free %a : memref<4xf32>
  scf.if %c {
    // expected-error @+1 {{pass 'plan-memory' failed: cuvil_fused.copy: %a is used after it is freed}}
    cuvil_fused.copy %a, %out0 : memref<4xf32>, memref<4xf32>
  }
  func.return
}

// -----

func.func @freed_on_one_path(%c: i1) attributes {cuvil_fused.outputs = 0 : i64} {
  // expected-note @+1 {{allocated here}}
  %a = cuvil_fused.alloc : memref<4xf32>
  scf.if %c {
    // expected-error @+1 {{pass 'plan-memory' failed: cuvil_fused.free: %a is allocated outside of this region: free it in the block of its alloc}}
    cuvil_fused.free %a : memref<4xf32>
  }
  func.return
}

// -----

func.func @not_ours_to_free(%x: memref<4xf32>) attributes {cuvil_fused.outputs = 0 : i64} {
  // expected-error @+1 {{pass 'plan-memory' failed: cuvil_fused.free: %x is not the result of a cuvil_fused.alloc}}
  cuvil_fused.free %x : memref<4xf32>
  func.return
}

// -----

func.func @escapes(%c: i1, %x: memref<4xf32>) attributes {cuvil_fused.outputs = 0 : i64} {
  %0 = scf.if %c -> (memref<4xf32>) {
    %a = cuvil_fused.alloc : memref<4xf32>
    // expected-error @+1 {{pass 'plan-memory' failed: scf.yield: %a leaves the block of its lifetime: copy it into a buffer from outside}}
    scf.yield %a : memref<4xf32>
  } else {
    scf.yield %x : memref<4xf32>
  }
  func.return
}
