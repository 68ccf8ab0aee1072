// RUN: cuvil-opt %s -p lower-loops-to-llvm | cuvil-opt | filecheck %s
// Each lane-wise cast is the instruction of its name, signed or unsigned.
// CHECK-LABEL: llvm.func @casts
// CHECK: llvm.sext %{{.*}} : vector<4xi8> to vector<4xi32>
// CHECK: llvm.sitofp %{{.*}} : vector<4xi32> to vector<4xf32>
// CHECK: cuvil_llvm.fptoui %{{.*}} : vector<4xf32> to vector<4xi32>
// CHECK: llvm.trunc %{{.*}} : vector<4xi32> to vector<4xi8>
func.func @casts(%v: vector<4xi8>) -> vector<4xi8> {
  %0 = cuvil_vector.extsi %v : vector<4xi8> to vector<4xi32>
  %1 = cuvil_vector.sitofp %0 : vector<4xi32> to vector<4xf32>
  %2 = cuvil_vector.fptoui %1 : vector<4xf32> to vector<4xi32>
  %3 = cuvil_vector.trunci %2 : vector<4xi32> to vector<4xi8>
  func.return %3 : vector<4xi8>
}
