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
