// RUN: cuvil-opt %s | cuvil-opt | filecheck %s
// RUN: cuvil-opt %s --mlir-print-op-generic | cuvil-opt | filecheck %s
// Every operation prints and parses back.
// CHECK: cuvil_llvm.fcmp "olt" %{{.*}}, %{{.*}} : vector<4xf32>
// CHECK: cuvil_llvm.fcmp "uno" %{{.*}}, %{{.*}} {fastmathFlags = #llvm.fastmath<nnan>} : vector<4xf32>
// CHECK: cuvil_llvm.select %{{.*}}, %{{.*}}, %{{.*}} : vector<4xi1>, vector<4xf32>
// CHECK: cuvil_llvm.extractelement %{{.*}}[%{{.*}} : i64] : vector<4xf32>
// CHECK: cuvil_llvm.fptosi %{{.*}} : f32 to i32
// CHECK: cuvil_llvm.fptoui %{{.*}} : vector<4xf32> to vector<4xi8>
// CHECK: cuvil_llvm.uitofp %{{.*}} : vector<4xi8> to vector<4xf32>
llvm.func @ops(%f: vector<4xf32>, %n: i64) {
  %0 = cuvil_llvm.fcmp "olt" %f, %f : vector<4xf32>
  %1 = cuvil_llvm.fcmp "uno" %f, %f {fastmathFlags = #llvm.fastmath<nnan>} : vector<4xf32>
  %2 = cuvil_llvm.select %0, %f, %f : vector<4xi1>, vector<4xf32>
  %3 = cuvil_llvm.extractelement %f[%n : i64] : vector<4xf32>
  %4 = cuvil_llvm.fptosi %3 : f32 to i32
  %5 = cuvil_llvm.fptoui %f : vector<4xf32> to vector<4xi8>
  %6 = cuvil_llvm.uitofp %5 : vector<4xi8> to vector<4xf32>
  llvm.return
}
