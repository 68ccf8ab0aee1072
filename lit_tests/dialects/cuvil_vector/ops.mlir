// RUN: cuvil-opt %s | cuvil-opt | filecheck %s
// RUN: cuvil-opt %s --mlir-print-op-generic | cuvil-opt | filecheck %s
// Every operation prints and parses back.
// CHECK: cuvil_vector.cmpf olt, %{{.*}}, %{{.*}} : vector<4xf32>
// CHECK: cuvil_vector.cmpi ult, %{{.*}}, %{{.*}} : vector<4xi32>
// CHECK: cuvil_vector.select %{{.*}}, %{{.*}}, %{{.*}} : vector<4xi1>, vector<4xf32>
// CHECK: cuvil_vector.extsi %{{.*}} : vector<4xi32> to vector<4xi64>
// CHECK: cuvil_vector.extui %{{.*}} : vector<4xi32> to vector<4xi64>
// CHECK: cuvil_vector.trunci %{{.*}} : vector<4xi64> to vector<4xi32>
// CHECK: cuvil_vector.index_cast %{{.*}} : vector<4xi32> to vector<4xindex>
// CHECK: cuvil_vector.fptosi %{{.*}} : vector<4xf32> to vector<4xi32>
// CHECK: cuvil_vector.fptoui %{{.*}} : vector<4xf32> to vector<4xi32>
// CHECK: cuvil_vector.sitofp %{{.*}} : vector<4xi32> to vector<4xf32>
// CHECK: cuvil_vector.uitofp %{{.*}} : vector<4xi32> to vector<4xf32>
// CHECK: cuvil_vector.prefetch %{{.*}}[%{{.*}}] : memref<64xf32>
func.func @ops(%f: vector<4xf32>, %i: vector<4xi32>, %b: memref<64xf32>, %n: index) {
  %0 = cuvil_vector.cmpf olt, %f, %f : vector<4xf32>
  %1 = cuvil_vector.cmpi ult, %i, %i : vector<4xi32>
  %2 = cuvil_vector.select %0, %f, %f : vector<4xi1>, vector<4xf32>
  %3 = cuvil_vector.extsi %i : vector<4xi32> to vector<4xi64>
  %4 = cuvil_vector.extui %i : vector<4xi32> to vector<4xi64>
  %5 = cuvil_vector.trunci %3 : vector<4xi64> to vector<4xi32>
  %6 = cuvil_vector.index_cast %i : vector<4xi32> to vector<4xindex>
  %7 = cuvil_vector.fptosi %f : vector<4xf32> to vector<4xi32>
  %8 = cuvil_vector.fptoui %f : vector<4xf32> to vector<4xi32>
  %9 = cuvil_vector.sitofp %i : vector<4xi32> to vector<4xf32>
  %10 = cuvil_vector.uitofp %i : vector<4xi32> to vector<4xf32>
  cuvil_vector.prefetch %b[%n] : memref<64xf32>
  func.return
}
