// RUN: cuvil-opt %s -p lower-gpu-to-nvvm --split-input-file --verify-diagnostics
// What has no lowering is an error at the operation.

// expected-error @+1 {{func.func: expected kernels at the top of a module}}
func.func @host() {
  func.return
}

// -----

cuvil_gpu.kernel @math threads = [32, 1, 1] {
^bb0(%x: f32):
  // expected-error @+1 {{math.exp: has no lowering to llvm: run lower-math first}}
  %0 = math.exp %x : f32
  cuvil_gpu.return
}

// -----

cuvil_gpu.kernel @booleans threads = [32, 1, 1] {
^bb0(%x: memref<32xi1, 1 : i32>, %i: index):
  // expected-error @+1 {{cuvil_gpu.load: booleans are bytes in memory: expected i8, got i1}}
  %0 = cuvil_gpu.load %x[%i] : memref<32xi1, 1 : i32>, i1
  cuvil_gpu.return
}
