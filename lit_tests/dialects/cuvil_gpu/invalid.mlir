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

// -----

cuvil_gpu.kernel @k threads = [32, 1, 1] {
^bb0(%x: memref<64xf32, 1 : i32>, %i: index, %n: i32, %v: f32):
  %s = cuvil_gpu.shared : memref<64xf32, 3 : i32>
  %h = cuvil_gpu.shared : memref<64xbf16, 3 : i32>
  // expected-error @+1 {{cuvil_gpu.copy_async: expected a copy of 4, 8 or 16 bytes, got 12}}
  cuvil_gpu.copy_async %x[%i], %s[%i] elements = 3 : memref<64xf32, 1 : i32>, memref<64xf32, 3 : i32>
  cuvil_gpu.return
}

// -----

cuvil_gpu.kernel @k threads = [32, 1, 1] {
^bb0(%x: memref<64xf32, 1 : i32>, %i: index, %n: i32, %v: f32):
  %s = cuvil_gpu.shared : memref<64xf32, 3 : i32>
  %h = cuvil_gpu.shared : memref<64xbf16, 3 : i32>
  // expected-error @+1 {{cuvil_gpu.copy_async: expected a buffer in memory space 3, got memref<64xf32, 1 : i32>}}
  cuvil_gpu.copy_async %x[%i], %x[%i] elements = 4 : memref<64xf32, 1 : i32>, memref<64xf32, 1 : i32>
  cuvil_gpu.return
}

// -----

cuvil_gpu.kernel @k threads = [32, 1, 1] {
^bb0(%x: memref<64xf32, 1 : i32>, %i: index, %n: i32, %v: f32):
  %s = cuvil_gpu.shared : memref<64xf32, 3 : i32>
  %h = cuvil_gpu.shared : memref<64xbf16, 3 : i32>
  // expected-error @+1 {{cuvil_gpu.copy_async: expected buffers of one element type, got memref<64xf32, 1 : i32> and memref<64xbf16, 3 : i32>}}
  cuvil_gpu.copy_async %x[%i], %h[%i] elements = 4 : memref<64xf32, 1 : i32>, memref<64xbf16, 3 : i32>
  cuvil_gpu.return
}

// -----

cuvil_gpu.kernel @k threads = [32, 1, 1] {
^bb0(%x: memref<64xf32, 1 : i32>, %i: index, %n: i32, %v: f32):
  %s = cuvil_gpu.shared : memref<64xf32, 3 : i32>
  %h = cuvil_gpu.shared : memref<64xbf16, 3 : i32>
  // expected-error @+1 {{cuvil_gpu.wait_copies: expected a number of groups, got -1}}
  cuvil_gpu.wait_copies in_flight = -1
  cuvil_gpu.return
}

// -----

cuvil_gpu.kernel @k threads = [32, 1, 1] {
^bb0(%x: memref<64xf32, 1 : i32>, %i: index, %n: i32, %v: f32):
  %s = cuvil_gpu.shared : memref<64xf32, 3 : i32>
  %h = cuvil_gpu.shared : memref<64xbf16, 3 : i32>
  // expected-error @+1 {{cuvil_gpu.mbarrier_init: expected mbarriers to be elements of i64, got memref<64xf32, 3 : i32>}}
  cuvil_gpu.mbarrier_init %s[%i], %n : memref<64xf32, 3 : i32>
  cuvil_gpu.return
}

// -----

cuvil_gpu.kernel @arrive threads = [32, 1, 1] {
^bb0(%x: memref<64xi64, 1 : i32>, %i: index):
  // expected-error @+1 {{cuvil_gpu.mbarrier_arrive: expected a buffer in memory space 3, got memref<64xi64, 1 : i32>}}
  cuvil_gpu.mbarrier_arrive %x[%i] : memref<64xi64, 1 : i32>
  cuvil_gpu.return
}

// -----

cuvil_gpu.kernel @wait threads = [32, 1, 1] {
^bb0(%i: index, %parity: i32):
  %s = cuvil_gpu.shared : memref<64xf32, 3 : i32>
  // expected-error @+1 {{cuvil_gpu.mbarrier_wait: expected mbarriers to be elements of i64, got memref<64xf32, 3 : i32>}}
  cuvil_gpu.mbarrier_wait %s[%i], %parity : memref<64xf32, 3 : i32>
  cuvil_gpu.return
}

// -----

cuvil_gpu.kernel @reduced threads = [32, 1, 1] {
^bb0(%v: i64):
  // expected-error @+2 {{cannot parse: Expected attribute i32 but got i64}}
  %0 = cuvil_gpu.warp_reduce add %v : i64
  cuvil_gpu.return
}

// -----

cuvil_gpu.kernel @shuffled threads = [32, 1, 1] {
^bb0(%v: f64, %distance: i32):
  // expected-error @+2 {{cannot parse: Unexpected attribute f64}}
  %0 = cuvil_gpu.warp_shuffle xor %v, %distance : f64
  cuvil_gpu.return
}

// -----

func.func @main() {
  // expected-error @+1 {{cuvil_gpu.return: 'cuvil_gpu.return' expects parent op 'cuvil_gpu.kernel'}}
  cuvil_gpu.return
}

// -----

cuvil_gpu.kernel @k threads = [32, 1, 1] {
^bb0(%x: memref<64xf32, 1 : i32>, %i: index, %n: i32, %v: f32):
  %s = cuvil_gpu.shared : memref<64xf32, 3 : i32>
  %h = cuvil_gpu.shared : memref<64xbf16, 3 : i32>
  // expected-error @+1 {{cuvil_gpu.load_matrix: expected elements of f16 or bf16, got memref<64xf32, 3 : i32>}}
  %m = cuvil_gpu.load_matrix %s[%i] matrices = 1 : memref<64xf32, 3 : i32>, vector<2xf32>
  cuvil_gpu.return
}

// -----

cuvil_gpu.kernel @k threads = [32, 1, 1] {
^bb0(%x: memref<64xf32, 1 : i32>, %i: index, %n: i32, %v: f32):
  %s = cuvil_gpu.shared : memref<64xf32, 3 : i32>
  %h = cuvil_gpu.shared : memref<64xbf16, 3 : i32>
  // expected-error @+1 {{cuvil_gpu.load_matrix: expected 1, 2 or 4 matrices, got 3}}
  %m = cuvil_gpu.load_matrix %h[%i] matrices = 3 : memref<64xbf16, 3 : i32>, vector<6xbf16>
  cuvil_gpu.return
}

// -----

cuvil_gpu.kernel @k threads = [32, 1, 1] {
^bb0(%x: memref<64xf32, 1 : i32>, %i: index, %n: i32, %v: f32):
  %s = cuvil_gpu.shared : memref<64xf32, 3 : i32>
  %h = cuvil_gpu.shared : memref<64xbf16, 3 : i32>
  // expected-error @+1 {{cuvil_gpu.load_matrix: expected a result of vector<4xbf16>, got vector<8xbf16>}}
  %m = cuvil_gpu.load_matrix %h[%i] matrices = 2 : memref<64xbf16, 3 : i32>, vector<8xbf16>
  cuvil_gpu.return
}

// -----

cuvil_gpu.kernel @k threads = [32, 1, 1] {
^bb0(%x: memref<64xf32, 1 : i32>, %i: index, %n: i32, %v: f32):
  %s = cuvil_gpu.shared : memref<64xf32, 3 : i32>
  %h = cuvil_gpu.shared : memref<64xbf16, 3 : i32>
  %c = arith.constant dense<0.0> : vector<4xf32>
  // expected-error @+1 {{cuvil_gpu.mma: expected factors of f16 or bf16, got f32}}
  %m = cuvil_gpu.mma %c, %c, %c : vector<4xf32>, vector<4xf32>, vector<4xf32> -> vector<4xf32>
  cuvil_gpu.return
}

// -----

cuvil_gpu.kernel @k threads = [32, 1, 1] {
^bb0(%x: memref<64xf32, 1 : i32>, %i: index, %n: i32, %v: f32):
  %s = cuvil_gpu.shared : memref<64xf32, 3 : i32>
  %h = cuvil_gpu.shared : memref<64xbf16, 3 : i32>
  %a = arith.constant dense<0.0> : vector<4xf16>
  %c = arith.constant dense<0.0> : vector<4xf32>
  // expected-error @+1 {{cuvil_gpu.mma: expected A to be vector<8xf16>, got vector<4xf16>}}
  %m = cuvil_gpu.mma %a, %a, %c : vector<4xf16>, vector<4xf16>, vector<4xf32> -> vector<4xf32>
  cuvil_gpu.return
}

// -----

func.func @main(%x: memref<64xf32, 1 : i32>, %n: index) {
  // expected-error @+1 {{cuvil_gpu.launch: there is no kernel @none}}
  cuvil_gpu.launch @none blocks = (%n, %n, %n) (%x) : memref<64xf32, 1 : i32>
  func.return
}

// -----

cuvil_gpu.kernel @k threads = [32, 1, 1] {
^bb0(%i: index):
  cuvil_gpu.return
}
func.func @main(%x: memref<64xf32, 1 : i32>, %n: index) {
  // expected-error @+1 {{cuvil_gpu.launch: kernel @k takes (index), got (memref<64xf32, 1 : i32>)}}
  cuvil_gpu.launch @k blocks = (%n, %n, %n) (%x) : memref<64xf32, 1 : i32>
  func.return
}
