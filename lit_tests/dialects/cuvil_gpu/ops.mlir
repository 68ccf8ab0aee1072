// RUN: cuvil-opt %s | cuvil-opt | filecheck %s
// RUN: cuvil-opt %s --mlir-print-op-generic | cuvil-opt | filecheck %s
// Every operation prints and parses back.
// CHECK: cuvil_gpu.kernel @ops threads = [128, 1, 1] {
// CHECK-NEXT: ^{{.*}}(%{{.*}}: memref<1024xf32, 1 : i32>, %{{.*}}: index):
// CHECK-NEXT: cuvil_gpu.shared : memref<128xf32, 3 : i32>
// CHECK-NEXT: cuvil_gpu.load %{{.*}}[%{{.*}}] : memref<1024xf32, 1 : i32>, vector<4xf32>
// CHECK-NEXT: cuvil_gpu.store %{{.*}}, %{{.*}}[%{{.*}}] : vector<4xf32>, memref<128xf32, 3 : i32>
// CHECK-NEXT: cuvil_gpu.load %{{.*}}[%{{.*}}] : memref<1024xf32, 1 : i32>, f32
// CHECK-NEXT: cuvil_gpu.warp_reduce add %{{.*}} : f32
// CHECK-NEXT: cuvil_gpu.atomic_add %{{.*}}, %{{.*}}[%{{.*}}] : f32, memref<1024xf32, 1 : i32>
// CHECK-NEXT: cuvil_gpu.return
// CHECK: cuvil_gpu.kernel @warps threads = [32, 1, 1] {
// CHECK: cuvil_gpu.copy_async %{{.*}}[%{{.*}}], %{{.*}}[%{{.*}}] elements = 4 : memref<1024xf32, 1 : i32>, memref<128xf32, 3 : i32>
// CHECK-NEXT: cuvil_gpu.commit_copies
// CHECK-NEXT: cuvil_gpu.wait_copies in_flight = 0
// CHECK-NEXT: cuvil_gpu.mbarrier_init %{{.*}}[%{{.*}}], %{{.*}} : memref<2xi64, 3 : i32>
// CHECK-NEXT: cuvil_gpu.mbarrier_arrive %{{.*}}[%{{.*}}] : memref<2xi64, 3 : i32>
// CHECK-NEXT: cuvil_gpu.mbarrier_wait %{{.*}}[%{{.*}}], %{{.*}} : memref<2xi64, 3 : i32>
// CHECK-NEXT: cuvil_gpu.warp_shuffle xor %{{.*}}, %{{.*}} : f32
// CHECK-NEXT: cuvil_gpu.warp_sync
// CHECK-NEXT: cuvil_gpu.load_matrix %{{.*}}[%{{.*}}] matrices = 4 : memref<1024xbf16, 3 : i32>, vector<8xbf16>
// CHECK-NEXT: cuvil_gpu.load_matrix %{{.*}}[%{{.*}}] matrices = 2 transposed : memref<1024xbf16, 3 : i32>, vector<4xbf16>
// CHECK: cuvil_gpu.mma %{{.*}}, %{{.*}}, %{{.*}} : vector<8xbf16>, vector<4xbf16>, vector<4xf32> -> vector<4xf32>
// CHECK: func.func @main
// CHECK: cuvil_gpu.launch @ops blocks = (%{{.*}}, %{{.*}}, %{{.*}}) (%{{.*}}, %{{.*}}) : memref<1024xf32, 1 : i32>, index
cuvil_gpu.kernel @ops threads = [128, 1, 1] {
^bb0(%x: memref<1024xf32, 1 : i32>, %i: index):
  %s = cuvil_gpu.shared : memref<128xf32, 3 : i32>
  %v = cuvil_gpu.load %x[%i] : memref<1024xf32, 1 : i32>, vector<4xf32>
  cuvil_gpu.store %v, %s[%i] : vector<4xf32>, memref<128xf32, 3 : i32>
  %f = cuvil_gpu.load %x[%i] : memref<1024xf32, 1 : i32>, f32
  %r = cuvil_gpu.warp_reduce add %f : f32
  cuvil_gpu.atomic_add %r, %x[%i] : f32, memref<1024xf32, 1 : i32>
  cuvil_gpu.return
}
cuvil_gpu.kernel @warps threads = [32, 1, 1] {
^bb0(%x: memref<1024xf32, 1 : i32>, %i: index, %v: f32, %n: i32):
  %s = cuvil_gpu.shared : memref<128xf32, 3 : i32>
  %h = cuvil_gpu.shared : memref<1024xbf16, 3 : i32>
  %b = cuvil_gpu.shared : memref<2xi64, 3 : i32>
  cuvil_gpu.copy_async %x[%i], %s[%i] elements = 4 : memref<1024xf32, 1 : i32>, memref<128xf32, 3 : i32>
  cuvil_gpu.commit_copies
  cuvil_gpu.wait_copies in_flight = 0
  cuvil_gpu.mbarrier_init %b[%i], %n : memref<2xi64, 3 : i32>
  cuvil_gpu.mbarrier_arrive %b[%i] : memref<2xi64, 3 : i32>
  cuvil_gpu.mbarrier_wait %b[%i], %n : memref<2xi64, 3 : i32>
  %o = cuvil_gpu.warp_shuffle xor %v, %n : f32
  cuvil_gpu.warp_sync
  %fa = cuvil_gpu.load_matrix %h[%i] matrices = 4 : memref<1024xbf16, 3 : i32>, vector<8xbf16>
  %fb = cuvil_gpu.load_matrix %h[%i] matrices = 2 transposed : memref<1024xbf16, 3 : i32>, vector<4xbf16>
  %c = arith.constant dense<0.0> : vector<4xf32>
  %r = cuvil_gpu.mma %fa, %fb, %c : vector<8xbf16>, vector<4xbf16>, vector<4xf32> -> vector<4xf32>
  cuvil_gpu.return
}
func.func @main(%x: memref<1024xf32, 1 : i32>, %n: index) {
  cuvil_gpu.launch @ops blocks = (%n, %n, %n) (%x, %n) : memref<1024xf32, 1 : i32>, index
  func.return
}
