// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// What the verifier of each operation refuses.

// expected-error @+1 {{cuvil_gpu.kernel: expected three sizes of a block, got [128]}}
cuvil_gpu.kernel @shape threads = [128] {
  cuvil_gpu.return
}

// -----

// expected-error @+1 {{cuvil_gpu.kernel: expected at most 1024 threads in a block, got 2048}}
cuvil_gpu.kernel @many threads = [1024, 2, 1] {
  cuvil_gpu.return
}

// -----

// expected-error @+1 {{cuvil_gpu.kernel: expected a buffer in memory space 1, got memref<8xf32>}}
cuvil_gpu.kernel @space threads = [32, 1, 1] {
^bb0(%x: memref<8xf32>):
  cuvil_gpu.return
}

// -----

cuvil_gpu.kernel @shared_space threads = [32, 1, 1] {
  // expected-error @+1 {{cuvil_gpu.shared: expected a buffer in memory space 3, got memref<8xf32, 1 : i32>}}
  %0 = cuvil_gpu.shared : memref<8xf32, 1 : i32>
  cuvil_gpu.return
}

// -----

cuvil_gpu.kernel @shared_size threads = [32, 1, 1] {
  // expected-error @+1 {{cuvil_gpu.shared: expected a static size, got memref<?xf32, 3 : i32>}}
  %0 = cuvil_gpu.shared : memref<?xf32, 3 : i32>
  cuvil_gpu.return
}

// -----

cuvil_gpu.kernel @width threads = [32, 1, 1] {
^bb0(%x: memref<64xf32, 1 : i32>, %i: index):
  // expected-error @+1 {{cuvil_gpu.load: expected an access of 1, 2, 4, 8 or 16 bytes, got 32}}
  %0 = cuvil_gpu.load %x[%i] : memref<64xf32, 1 : i32>, vector<8xf32>
  cuvil_gpu.return
}

// -----

cuvil_gpu.kernel @element threads = [32, 1, 1] {
^bb0(%x: memref<64xf32, 1 : i32>, %i: index, %v: i32):
  // expected-error @+1 {{cuvil_gpu.store: expected elements of f32, got i32}}
  cuvil_gpu.store %v, %x[%i] : i32, memref<64xf32, 1 : i32>
  cuvil_gpu.return
}

// -----

cuvil_gpu.kernel @flat threads = [32, 1, 1] {
^bb0(%i: index, %v: f32):
  %s = cuvil_gpu.shared : memref<64xf32, 3 : i32>
  %own = memref.alloca() : memref<64xf32>
  // expected-error @+1 {{cuvil_gpu.atomic_add: expected a buffer in memory space 1 or 3, got memref<64xf32>}}
  cuvil_gpu.atomic_add %v, %own[%i] : f32, memref<64xf32>
  cuvil_gpu.return
}
