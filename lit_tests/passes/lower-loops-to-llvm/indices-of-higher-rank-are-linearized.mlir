// RUN: cuvil-opt %s -p lower-loops-to-llvm | filecheck %s
// A memref is a bare pointer: an access of any rank is one offset in elements, by the row-major strides.
// CHECK-LABEL: llvm.func @read
// CHECK: %[[ROW:.*]] = llvm.mul %{{.*}}, %{{.*}} : i64
// CHECK: %[[AT:.*]] = llvm.add %[[ROW]], %{{.*}} : i64
// CHECK: llvm.getelementptr %{{.*}}[%[[AT]]]
func.func @read(%x: memref<4x8xf32>, %i: index, %j: index) -> f32 {
  %v = memref.load %x[%i, %j] : memref<4x8xf32>
  func.return %v : f32
}
